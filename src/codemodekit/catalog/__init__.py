"""The catalogue: what every source offers, as one immutable value with a revision, and the search over it."""
