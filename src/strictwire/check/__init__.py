"""Lint and breaking rules over contracts. Pure: what is judged comes in as values. Above: `sources`."""
