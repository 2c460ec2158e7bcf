"""Findings and reports: which rule, where, what is wrong and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from strictwire.canon.json import JsonObject


class Impact(StrEnum):
    """Who is affected by a change between two versions of a tool."""

    CALLER = "caller"
    """A program written for the old contract: its call is refused, or it gets a result the old contract excluded."""
    MODEL = "model"
    """A model: it reads other text than the text that was reviewed."""
    NONE = "nobody"
    """Compatible; reported for information. The value is part of the JSON report."""


class Level(StrEnum):
    """How severe a finding is."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


_GRAVEST_FIRST: Final = tuple(Level)


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
    """JSON of a value that one version of the schema accepts and the other rejects."""
    severity: Level | None = None
    """Set by rules whose severity can be configured. For others, `impact` decides."""

    @property
    def level(self) -> Level:
        """How severe the finding is."""
        return self.severity or (Level.NOTE if self.impact is Impact.NONE else Level.ERROR)

    @property
    def location(self) -> str:
        """`file:line:column`, the form that editors and terminals make clickable."""
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file

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
            "hurts": self.impact.value if self.impact else "",
            "message": self.message,
            "advice": self.advice,
            "witness": self.witness,
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
    """The least severe level that makes the check fail."""

    @property
    def failing(self) -> tuple[Finding, ...]:
        """The findings that make the check fail."""
        return tuple(each for each in self.findings if self.fails(each))

    def fails(self, finding: Finding) -> bool:
        """Whether a finding makes the check fail."""
        return _GRAVEST_FIRST.index(finding.level) <= _GRAVEST_FIRST.index(self.threshold)
