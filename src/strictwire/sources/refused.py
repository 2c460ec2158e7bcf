"""Why a source could not be read at all. What is wrong inside a source is a problem of its ToolSet instead."""

from __future__ import annotations


class SourceRefused(Exception):
    """A source that gives no tools to judge. The check did not run, and says so."""

    def __init__(self, source: str, reason: str) -> None:
        super().__init__(source, reason)
        self.source = source
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.source}: {self.reason}"
