"""Attestation: a signed bundle of what was planned, approved, done and recorded. It can be verified without this server."""
