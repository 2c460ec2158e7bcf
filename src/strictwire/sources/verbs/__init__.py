"""The verbs of governance as plain functions: a frozen options value in, an exit code and text out.

The command line parses arguments and prints; everything else is here. Exit codes: 0 clean, 100 findings, 1 could not run.
"""
