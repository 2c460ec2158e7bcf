"""Several upstreams behind one endpoint: routing, merged lists, names, status."""
