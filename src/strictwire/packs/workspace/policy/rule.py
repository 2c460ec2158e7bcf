"""What a rule is: an id, what it checks, what to do about a finding, and where to look. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from strictwire.packs.workspace.policy.source import Source


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
    """Looks into any text, whatever the language: gives the places, as characters from the start."""

    find: Callable[[str], Iterable[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class InTree:
    """Looks for what a query cannot say: gives the rows, counted from 0."""

    find: Callable[[Source], Iterable[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class InChange:
    """Looks at a file before and after a change: gives the rows of the new one. Says nothing about a file that is new."""

    find: Callable[[Source, Source], Iterable[int]]


Look: TypeAlias = InCode | InComments | InText | InTree | InChange


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
