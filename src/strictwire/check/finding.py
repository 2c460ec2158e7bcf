"""What a rule found: where, which rule, what is wrong and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from strictwire.canon.json import JsonObject


class Hurt(StrEnum):
    """Who is hurt by a change."""

    CALLER = "caller"
    """A program that keeps the old contract: its call is refused, or it gets an answer it was promised not to get."""
    MODEL = "model"
    """A model that reads other words than those that were reviewed."""
    NOBODY = "nobody"
    """Worth knowing, and safe."""


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

    @property
    def fails(self) -> bool:
        """Whether the finding makes the check fail."""
        return self.hurts is not Hurt.NOBODY

    @property
    def place(self) -> str:
        """`file:line:column`, as editors and terminals make it clickable."""
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file

    def as_json(self) -> JsonObject:
        """The form of `--format json`; empty fields are left out."""
        known = {
            "rule": self.rule,
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
    findings: tuple[Finding, ...]
    waived: tuple[Waived, ...] = ()
    ruleset: str = ""
    against: str = ""

    @property
    def failing(self) -> tuple[Finding, ...]:
        """The findings that make the check fail."""
        return tuple(each for each in self.findings if each.fails)
