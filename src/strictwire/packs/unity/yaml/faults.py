"""Why a text cannot be read as Unity YAML."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Fault(StrEnum):
    """The kinds of damage the reader tells apart. The value is part of findings and diagnostics."""

    CONFLICT_MARKER = "merge conflict marker"
    """A line that Git left in a file whose merge is not finished."""
    BAD_HEADER = "malformed document header"
    ID_OUT_OF_RANGE = "file id outside the signed 64-bit range"
    DUPLICATE_ID = "duplicate file id"
    TRUNCATED = "truncated"
    """The text ends inside a value or a document, or without its last line break."""
    NOT_UTF8 = "not UTF-8"
    BAD_INDENT = "indentation that belongs to no open mapping or sequence"
    BAD_LINE = "a line that is neither a key nor a sequence item"
    BAD_VALUE = "malformed value"
    TOO_DEEP = "nested too deeply"


class Problem(Struct, frozen=True):
    """One fault and the line it is on, counted from 1."""

    fault: Fault
    line: int
    file_id: int | None = None
    """The document it belongs to, where that is known."""

    def __str__(self) -> str:
        where = f"line {self.line}"
        return f"{self.fault.value} at {where}" + (f" (fileID {self.file_id})" if self.file_id is not None else "")


class Malformed(Exception):
    """The text is not Unity YAML. Carries the problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem

    def __str__(self) -> str:
        return str(self.problem)
