"""Attestation: a signed bundle of what was planned, approved, done and recorded, which others check without this server."""
