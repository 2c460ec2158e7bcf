"""Findings and reports: which rule, where, what is wrong and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

from strictwire.canon.json import JsonObject


class Impact(StrEnum):
    """The tier of a change between two versions of a tool, gravest first. The values are part of the JSON report."""

    CALLER = "caller"
    """Breaks callers: a call that worked is refused, is ignored in part, or does something else."""
    READER = "reader"
    """Breaks readers: a result lacks what the old contract promised, or contains what it excluded."""
    MODEL = "model"
    """Changes what models read, and with it how they choose and call the tool."""
    ADDITIVE = "additive"
    """Adds something that nobody has to know about."""
    COSMETIC = "cosmetic"
    """Changes how a text is laid out and nothing that it says."""


class Level(StrEnum):
    """How severe a finding is."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


_GRAVEST_FIRST: Final = tuple(Level)
_TIERS: Final = tuple(Impact)
_LEVEL_OF_TIER: Final[Mapping[Impact | None, Level]] = MappingProxyType(
    {
        Impact.CALLER: Level.ERROR,
        Impact.READER: Level.ERROR,
        Impact.MODEL: Level.WARNING,
        Impact.ADDITIVE: Level.NOTE,
        Impact.COSMETIC: Level.NOTE,
        None: Level.ERROR,
    }
)


class Place(NamedTuple):
    """Where a finding is. `line` and `column` count from 1 and are 0 if the source has no text to point into."""

    tool: str = ""
    file: str = ""
    pointer: str = ""
    line: int = 0
    column: int = 0

    @property
    def location(self) -> str:
        """`file:line:column`, the form that editors and terminals make clickable."""
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file

    def as_json(self) -> JsonObject:
        """The members of a `--format json` report; empty ones are omitted."""
        return {name: value for name, value in self._asdict().items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding. `line` and `column` count from 1 and are 0 if the source has no text to point into."""

    rule: str
    message: str
    advice: str
    """What to do about it."""
    file: str = ""
    pointer: str = ""
    line: int = 0
    column: int = 0
    tool: str = ""
    impact: Impact | None = None
    """Set by breaking rules."""
    witness: str = ""
    """JSON of a value that shows the change: one version of the schema accepts it and the other does not."""
    old: str = ""
    """For breaking rules: the text, or the JSON of the schema, before the change."""
    new: str = ""
    """The same after the change; empty if it is gone."""
    excerpt: str = ""
    """For lint rules: the text, or the JSON of the schema, at the place; shortened, and without secrets."""
    also: tuple[Place, ...] = ()
    """Further places with the same finding; see `causes`."""
    severity: Level | None = None
    """Set by rules whose severity can be configured. For others, `impact` decides."""

    @property
    def level(self) -> Level:
        """How severe the finding is."""
        return self.severity or _LEVEL_OF_TIER[self.impact]

    @property
    def place(self) -> Place:
        """The first place of the finding."""
        return Place(self.tool, self.file, self.pointer, self.line, self.column)

    @property
    def places(self) -> tuple[Place, ...]:
        """All places of the finding."""
        return (self.place, *self.also)

    @property
    def location(self) -> str:
        """`file:line:column` of the first place."""
        return self.place.location

    def as_json(self) -> JsonObject:
        """The object in a `--format json` report; empty fields are omitted."""
        known = {
            "rule": self.rule,
            "severity": self.severity.value if self.severity else "",
            "tool": self.tool,
            "file": self.file,
            "pointer": self.pointer,
            "line": self.line,
            "column": self.column,
            "tier": self.impact.value if self.impact else "",
            "message": self.message,
            "advice": self.advice,
            "witness": self.witness,
            "old": self.old,
            "new": self.new,
            "excerpt": self.excerpt,
            "also": [each.as_json() for each in self.also],
        }
        return {name: value for name, value in known.items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class WaivedFinding:
    """A finding that a waiver accepts, and the reason given in the waiver."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The result of one check."""

    check: str
    """`lint`, `breaking` or `pin`."""
    subject: str
    """The source that was checked, as the user named it."""
    tools: int
    """How many things were judged."""
    findings: tuple[Finding, ...]
    waived: tuple[WaivedFinding, ...] = ()
    known: tuple[Finding, ...] = ()
    """Findings of the baseline, which do not make the check fail."""
    notes: tuple[str, ...] = ()
    """Limits of what the report can say, for people."""
    ruleset: str = ""
    against: str = ""
    """The source of the old version, as the user named it; empty for `lint`."""
    unit: str = "tool"
    """What `tools` counts."""
    threshold: Level = Level.ERROR
    """The least severe level that makes the check fail. Not used for findings with a tier."""
    purposes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """What each rule checks, for formats that describe the rules."""
    tool_version: str = ""
    """The version of strictwire, for formats that name the tool."""
    fail_on: Impact = Impact.MODEL
    """The least grave tier that makes the check fail."""

    @property
    def failing(self) -> tuple[Finding, ...]:
        """The findings that make the check fail."""
        return tuple(each for each in self.findings if self.fails(each))

    def fails(self, finding: Finding) -> bool:
        """Whether a finding makes the check fail."""
        if finding.impact is not None:
            return _TIERS.index(finding.impact) <= _TIERS.index(self.fail_on)
        return _GRAVEST_FIRST.index(finding.level) <= _GRAVEST_FIRST.index(self.threshold)
