"""What a rule is: an id, what it checks, what to do about a finding, and where to look. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class Severity(StrEnum):
    """What a finding does."""

    ERROR = "error"
    """The write is refused."""
    WARNING = "warning"
    """The write is taken, and the finding told."""
    OFF = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class InCode:
    """Looks for shapes of code: language to a query whose capture `hit` is the finding."""

    queries: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class InComments:
    """Looks for a pattern in comments: language to a regular expression; `*` for all the others."""

    patterns: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class InText:
    """Looks for a pattern in any text, whatever the language."""

    pattern: str
    unless: str = r"(?!)"
    """A finding that fits this is none."""


Look: TypeAlias = InCode | InComments | InText


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule. Ids are never reused."""

    id: str
    purpose: str
    """`Checks that …`."""
    fix: str
    look: Look
    severity: Severity = Severity.ERROR
    code: str = "POLICY_VIOLATION"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Where a rule is broken."""

    rule: str
    line: int
    """Counted from 1."""
    text: str
    """The line, for comparing; secrets must not be told."""
