"""What `codemodekit demo` shows: its upstreams, its programs, and the client that has them run."""
