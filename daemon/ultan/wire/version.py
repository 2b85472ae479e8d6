"""The plugin's version and the socket protocol's, compared by hooks and daemon."""

VERSION = "0.1.0"
PROTOCOL = 1
