"""What a rule found: where, which rule, what is wrong and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from strictwire.canon.json import JsonObject


class Hurt(StrEnum):
    """Who is hurt by a change."""

    CALLER = "caller"
    """A program that keeps the old contract: its call is refused, or it gets an answer it was promised not to get."""
    MODEL = "model"
    """A model that reads other words than those that were reviewed."""
    NOBODY = "nobody"
    """Worth knowing, and safe."""


class Level(StrEnum):
    """How severe a finding is."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


_GRAVEST_FIRST: Final = tuple(Level)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding. `line` and `column` count from one and are 0 where there is no text to point into."""

    rule: str
    message: str
    advice: str
    """What to do."""
    file: str = ""
    pointer: str = ""
    line: int = 0
    column: int = 0
    tool: str = ""
    hurts: Hurt | None = None
    """Set by breaking rules."""
    witness: str = ""
    """JSON of a value that one contract accepts and the other refuses."""
    severity: Level | None = None
    """Set by rules whose severity can be chosen. For others, `hurts` decides."""

    @property
    def level(self) -> Level:
        """How severe it is."""
        return self.severity or (Level.NOTE if self.hurts is Hurt.NOBODY else Level.ERROR)

    @property
    def place(self) -> str:
        """`file:line:column`, as editors and terminals make it clickable."""
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file

    def as_json(self) -> JsonObject:
        """The form of `--format json`; empty fields are left out."""
        known = {
            "rule": self.rule,
            "severity": self.severity.value if self.severity else "",
            "tool": self.tool,
            "file": self.file,
            "pointer": self.pointer,
            "line": self.line,
            "column": self.column,
            "hurts": self.hurts.value if self.hurts else "",
            "message": self.message,
            "advice": self.advice,
            "witness": self.witness,
        }
        return {name: value for name, value in known.items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Waived:
    """A finding that somebody decided to live with, and why."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The outcome of one check."""

    check: str
    """`lint` or `breaking`."""
    subject: str
    """What was judged, as the user named it."""
    tools: int
    """How many things were judged."""
    findings: tuple[Finding, ...]
    waived: tuple[Waived, ...] = ()
    known: tuple[Finding, ...] = ()
    """Findings of the baseline, which do not make the check fail."""
    notes: tuple[str, ...] = ()
    """What limits the statement of the report, for people."""
    ruleset: str = ""
    against: str = ""
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
