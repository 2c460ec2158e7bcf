"""The Markdown form of a plan: the hash line, the seven sections, their fields and lists. Pure.

The first line is `PLAN_HASH: <64 hex digits>`, the SHA-256 of every byte after that line. Nothing else is outside the hash.
There is no status line: an approval is a separate file. The parser collects all findings instead of stopping at the first.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, TypeVar

from strictwire.canon.json import NotStrict, parse, render
from strictwire.packs.workspace.plans.model import Ban, Command, Operation, Phase, Plan

SECTIONS: Final = (
    "Plan Metadata",
    "Scope & Constraints",
    "Phase Definitions",
    "Path Allowlist",
    "Verification Gates",
    "Forbidden Actions",
    "Rollback / Failure Policy",
)

NONE: Final = "none"
"""Content of an empty list, so that a list cannot be left out by accident."""

_HASH_LINE: Final = re.compile(r"PLAN_HASH: ([0-9a-f]{64})", re.ASCII)

_METADATA: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Title": "title",
        "Role": "role",
        "Author": "author",
        "Workspace": "workspace",
        "Created": "created",
        "Expires": "expires",
    }
)
_PHASE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Phase ID": "id",
        "Objective": "objective",
        "Allowed operations": "allowed",
        "Forbidden operations": "forbidden",
        "Required intent artifacts": "artifacts",
        "Verification commands": "commands",
        "Expected outcomes": "outcomes",
        "Failure stop conditions": "stops",
    }
)
"""Field name in the text to attribute of the value, in the order of the text."""

_PHASE_TITLE: Final = re.compile(r"##+ Phase: (.+)")

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFinding:
    """One error in a plan."""

    code: str
    line: int
    """Counted from 1; 0 if something is missing."""
    message: str


@dataclass(slots=True)
class Reader:
    """Collects findings while a plan is parsed."""

    findings: list[PlanFinding] = field(default_factory=list)

    def note(self, code: str, line: int, message: str) -> None:
        """Add a finding."""
        self.findings.append(PlanFinding(code=code, line=line, message=message))


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line with its number."""

    number: int
    text: str


def body_hash(body: str) -> str:
    """Return the hash of everything below the hash line."""
    return hashlib.sha256(body.encode()).hexdigest()


def split_hash(text: str) -> tuple[str | None, str]:
    """Return the hash in the first line, or None, and the text below it."""
    first, _, body = text.partition("\n")
    named = _HASH_LINE.fullmatch(first)
    return (named[1], body) if named else (None, body)


def render_plan(plan: Plan) -> str:
    """Return the text of a plan with its hash line. `read_plan` returns the same plan, unless a value contains a line break
    or looks like another part."""
    parts = (
        [f"{name}: {getattr(plan, attribute)}" for name, attribute in _METADATA.items()],
        [plan.scope],
        [line for phase in plan.phases for line in _phase_lines(phase)],
        _bullets(plan.paths),
        _bullets(_command_text(each) for each in plan.gates),
        _bullets(each.operation if each.pattern == "**" else f"{each.operation}: {each.pattern}" for each in plan.bans),
        [plan.rollback],
    )
    body = "\n\n".join(f"# {name}\n\n" + "\n".join(lines) for name, lines in zip(SECTIONS, parts, strict=True)) + "\n"
    return f"PLAN_HASH: {body_hash(body)}\n{body}"


def read_plan(text: str) -> tuple[Plan | None, tuple[PlanFinding, ...]]:
    """Parse a plan. Returns the plan, or None if it has findings, and the findings."""
    reader = Reader()
    sections = _sections(text, reader)
    metadata = _fields(sections["Plan Metadata"], _METADATA, reader)
    phases = _phases(sections["Phase Definitions"], reader)
    made = {
        "scope": _prose(sections["Scope & Constraints"], "Scope & Constraints", reader),
        "paths": tuple(line.text for line in _items(sections["Path Allowlist"], reader)),
        "gates": _each(sections["Verification Gates"], _as_command, reader),
        "bans": _each(sections["Forbidden Actions"], _as_ban, reader),
        "rollback": _prose(sections["Rollback / Failure Policy"], "Rollback / Failure Policy", reader),
    }
    if reader.findings:
        return None, tuple(reader.findings)
    return Plan(**metadata, phases=phases, **made), ()  # type: ignore[arg-type]


def _sections(text: str, reader: Reader) -> dict[str, list[Line]]:
    found: dict[str, list[Line]] = {}
    current: list[Line] = []
    for number, line in enumerate(split_hash(text)[1].split("\n"), start=2):
        if line.startswith("# "):
            name = line[2:].strip()
            if name not in SECTIONS or name in found:
                reader.note("PLAN_INVALID_STRUCTURE", number, f"unexpected section {name!r}")
            current = found.setdefault(name, [])
        elif line.strip():
            current.append(Line(number=number, text=line.rstrip()))
    order = [name for name in found if name in SECTIONS]
    for name in SECTIONS:
        if name not in found:
            reader.note("PLAN_MISSING_SECTION", 0, f"section '# {name}' is missing")
    if order != [name for name in SECTIONS if name in found]:
        reader.note("PLAN_INVALID_STRUCTURE", 0, f"sections must come in this order: {', '.join(SECTIONS)}")
    return {name: found.get(name, []) for name in SECTIONS}


def _fields(lines: Iterable[Line], known: Mapping[str, str], reader: Reader) -> dict[str, str]:
    found: dict[str, str] = {}
    last = 0
    for line in lines:
        last = line.number
        name, colon, value = line.text.partition(": ")
        attribute = known.get(name)
        if not colon or attribute is None or attribute in found:
            reader.note("PLAN_INVALID_STRUCTURE", line.number, f"expected one line each of: {', '.join(known)}")
        else:
            found[attribute] = value.strip()
    for name, attribute in known.items():
        if not found.get(attribute):
            reader.note("PLAN_MISSING_FIELD", last, f"field '{name}:' is missing or empty")
            found[attribute] = ""
    return found


def _phases(lines: list[Line], reader: Reader) -> tuple[Phase, ...]:
    starts = [index for index, line in enumerate(lines) if _PHASE_TITLE.fullmatch(line.text)]
    if not starts:
        reader.note("PLAN_MISSING_FIELD", 0, "at least one '## Phase: <title>' is required")
        return ()
    if starts[0] != 0:
        reader.note("PLAN_INVALID_STRUCTURE", lines[0].number, "expected '## Phase: <title>' first")
    ends = [*starts[1:], len(lines)]
    return tuple(_phase(lines[start:end], reader) for start, end in zip(starts, ends, strict=True))


def _phase(lines: list[Line], reader: Reader) -> Phase:
    title = _PHASE_TITLE.fullmatch(lines[0].text)
    found = _fields(lines[1:], _PHASE, reader)
    at = lines[0].number
    return Phase(
        title=title[1] if title else "",
        id=found["id"],
        objective=found["objective"],
        allowed=_operations(found["allowed"], at, reader),
        forbidden=_operations(found["forbidden"], at, reader),
        artifacts=() if found["artifacts"] == NONE else tuple(each.strip() for each in found["artifacts"].split(",")),
        commands=_commands(found["commands"], at, reader),
        outcomes=found["outcomes"],
        stops=found["stops"],
    )


def _operations(text: str, at: int, reader: Reader) -> tuple[Operation, ...]:
    names = [] if text in (NONE, "") else [each.strip() for each in text.split(",")]
    unknown = [name for name in names if name not in set(Operation)]
    if unknown:
        reader.note("PLAN_NOT_ENFORCEABLE", at, f"unknown operation {unknown[0]!r}; known: {', '.join(Operation)}")
        return ()
    return tuple(map(Operation, names))


def _commands(text: str, at: int, reader: Reader) -> tuple[Command, ...]:
    if text in (NONE, ""):
        return ()
    try:
        listed = parse(text.encode())
    except NotStrict:
        listed = None
    made = [_maybe_command(each) for each in listed] if isinstance(listed, list) else [None]
    if None in made:
        message = 'verification commands must be a JSON list of lists of strings, such as [["pytest", "-q"]], or none'
        reader.note("PLAN_NOT_ENFORCEABLE", at, message)
    return tuple(each for each in made if each is not None)


def _maybe_command(value: object) -> Command | None:
    if not isinstance(value, list) or not value or not all(isinstance(each, str) and each for each in value):
        return None
    return tuple(value)


def _as_command(line: Line, reader: Reader) -> Command | None:
    found = _commands(f"[{line.text}]", line.number, reader)
    return found[0] if len(found) == 1 else None


def _as_ban(line: Line, reader: Reader) -> Ban | None:
    name, _, pattern = line.text.partition(": ")
    if name in set(Operation):
        return Ban(operation=Operation(name), pattern=pattern.strip() or "**")
    message = (
        f"expected an operation ({', '.join(Operation)}), alone or followed by ': <pattern>', so that it can be enforced"
    )
    reader.note("PLAN_NOT_ENFORCEABLE", line.number, message)
    return None


def _each(lines: list[Line], read: Callable[[Line, Reader], Value | None], reader: Reader) -> tuple[Value, ...]:
    made = [read(line, reader) for line in _items(lines, reader)]
    return tuple(each for each in made if each is not None)


def _items(lines: list[Line], reader: Reader) -> list[Line]:
    items = [Line(number=line.number, text=line.text[2:].strip()) for line in lines if line.text.startswith("- ")]
    for line in lines:
        if not line.text.startswith("- "):
            reader.note("PLAN_INVALID_STRUCTURE", line.number, "expected a list of lines that begin with '- '")
    if not lines:
        reader.note("PLAN_MISSING_FIELD", 0, f"an empty list must contain '- {NONE}'")
    return [] if [line.text for line in items] == [NONE] else items


def _prose(lines: list[Line], name: str, reader: Reader) -> str:
    if not lines:
        reader.note("PLAN_MISSING_FIELD", 0, f"section '# {name}' is empty")
    return "\n".join(line.text for line in lines)


def _phase_lines(phase: Phase) -> list[str]:
    shown = {
        "allowed": ", ".join(phase.allowed),
        "forbidden": ", ".join(phase.forbidden) or NONE,
        "artifacts": ", ".join(phase.artifacts) or NONE,
        "commands": render([list(each) for each in phase.commands]).decode() if phase.commands else NONE,
    }
    fields = [f"{name}: {shown.get(attribute) or getattr(phase, attribute)}" for name, attribute in _PHASE.items()]
    return [f"## Phase: {phase.title}", *fields, ""]


def _command_text(command: Command) -> str:
    return render(list(command)).decode()


def _bullets(items: Iterable[str]) -> list[str]:
    return [f"- {each}" for each in items] or [f"- {NONE}"]
