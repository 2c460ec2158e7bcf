"""The verbs of `strictwire unity` as plain functions: options in, exit code and text out. Nothing is printed here."""
