"""Failures: one value for every error, a catalogue of codes, and dialects that render failures as JSON. Pure."""
