"""Reads contracts from schema folders, `tools/list` dumps, git commits, lock files and running servers."""
