"""A failure code as the documentation of a tool shows it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureCode:
    """A code that a tool may answer with."""

    code: str
    meaning: str
    action: str
    retryable: bool
