"""Errors for a source that cannot be read at all. Invalid parts of a source are `read_problems` of its ToolSet instead.

SourceRefused
  └ NoSchemaFiles
"""

from __future__ import annotations


class SourceRefused(Exception):
    """The source cannot be read, so the check cannot run. `reason` is for the user."""

    def __init__(self, source: str, reason: str) -> None:
        super().__init__(source, reason)
        self.source = source
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.source}: {self.reason}"


class NoSchemaFiles(SourceRefused):
    """The folder has no schema files. For a comparison with a commit this means that every tool is new."""
