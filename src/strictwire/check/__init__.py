"""Lint rules and breaking-change rules for tool contracts. Pure: contracts come in as values, read by `sources`."""
