"""The record of a policy rule: id, purpose, advice, and a detector that finds violations. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from strictwire.packs.workspace.policy.source import Source


class Severity(StrEnum):
    """The effect of a finding."""

    ERROR = "error"
    """The change is refused."""
    WARNING = "warning"
    """The change is accepted, and the finding is reported."""
    OFF = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class InCode:
    """Searches the syntax tree: language to a tree-sitter query whose capture `hit` is the finding."""

    queries: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class InComments:
    """Searches comments: language to a regular expression; `*` for all other languages."""

    patterns: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class InText:
    """Searches any text, whatever the language. Returns offsets in characters."""

    find: Callable[[str], Iterable[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class InTree:
    """Searches the syntax tree for what a query cannot express. Returns rows, counted from 0."""

    find: Callable[[Source], Iterable[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class InChange:
    """Compares a file before and after a change. Returns rows of the new file. Does not apply to new files."""

    find: Callable[[Source, Source], Iterable[int]]


Detector: TypeAlias = InCode | InComments | InText | InTree | InChange


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRule:
    """One rule. Ids are never reused."""

    id: str
    purpose: str
    """A sentence that begins with `Checks that`."""
    fix: str
    """What to do about a finding; part of the failure message."""
    detector: Detector
    severity: Severity = Severity.ERROR
    code: str = "POLICY_VIOLATION"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyFinding:
    """A violation of a rule."""

    rule: str
    line: int
    """Counted from 1."""
    text: str
    """The text of the line, for comparison only. It may contain a secret and must not be reported."""
