"""Servers: the configuration, the joining of concrete parts, and the transports that serve them."""
