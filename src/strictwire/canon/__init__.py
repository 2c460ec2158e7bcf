"""Strict JSON decoding, JSON encoding, canonical JSON (RFC 8785) and digests. Pure.

Not here: the meaning of a message (`wire`) and schemas (`contract`). This room imports no other room.
"""
