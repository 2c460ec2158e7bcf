"""The CLI commands about contracts, as plain functions: an options value in, an exit code and text out.

`cli` parses arguments and prints; everything else is here. Exit codes: 0 no findings, 100 findings, 1 could not run,
2 invalid policy.
"""
