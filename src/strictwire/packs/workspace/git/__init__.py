"""Commits to the git repository of a workspace without starting git.

A repository can make git run programs: hooks, filters, file monitors, transports of missing objects. Here nothing is
started: dulwich reads and writes the formats, and the jail of the session opens every file, so no link, alternate
or ref name leads out of the workspace. Of the configuration only the format of the repository is read.

repository -> refs, trees, index -> objects -> packs -> jail
"""
