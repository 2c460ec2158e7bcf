"""Which contract an endpoint speaks: one file a profile, from an inbound message to calls and back to bytes.

Above: `transport` and `server`. Below: `pipeline`, `wire`. A profile never sees a socket or a file.
"""
