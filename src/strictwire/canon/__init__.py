"""Strict JSON in, canonical JSON out. Nothing else in the project parses or writes wire JSON.

Not here: what the JSON means (`wire`), whether it fits a schema (`contract`). Below: only the native parser.
"""
