"""A `tools/list` answer saved as JSON: the result, the whole response, or the bare list."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from strictwire.canon.json import JsonValue, Limits, NotStrict, parse
from strictwire.check.location import offset_location
from strictwire.check.subject import Origin, ReadProblem, ToolSet
from strictwire.sources.entries import MALFORMED, read_entries
from strictwire.sources.refused import SourceRefused

LIMITS: Final = Limits(size=64 * 1024 * 1024)
"""Ten thousand tools of six kilobytes each."""

NOT_JSON: Final = "FILE_STRICT_JSON"


def read_dump(path: Path) -> ToolSet:
    """Raises SourceRefused: the file cannot be read. What is wrong in it is a problem."""
    try:
        if path.stat().st_size > LIMITS.size:
            raise SourceRefused(str(path), f"larger than {LIMITS.size:,} bytes")
        return parse_dump(path.read_bytes(), str(path))
    except OSError as exc:
        raise SourceRefused(str(path), f"cannot be read ({exc.strerror})") from exc


def parse_dump(raw: bytes, label: str) -> ToolSet:
    """The tools of a saved answer."""
    try:
        value = parse(raw, LIMITS)
    except NotStrict as exc:
        return ToolSet(label=label, subjects=(), read_problems=(flaw_of(exc, raw, label),), texts={label: raw})
    found = _list_in(value)
    if found is None:
        problem = ReadProblem(
            MALFORMED, Origin(label), "no list of tools: expected a tools/list answer or a list of tools", 1, 1
        )
        return ToolSet(label=label, subjects=(), read_problems=(problem,), texts={label: raw})
    entries, pointer = found
    subjects, read_problems = read_entries(entries, Origin(label, pointer))
    return ToolSet(label=label, subjects=subjects, read_problems=read_problems, texts={label: raw})


def flaw_of(exc: NotStrict, raw: bytes, file: str) -> ReadProblem:
    """A text that is not strict JSON, with its place."""
    line, column = offset_location(raw, exc.position) if exc.position is not None else (1, 1)
    return ReadProblem(
        NOT_JSON, Origin(file), f"the file is not strict JSON: {exc.fault.value.replace('_', ' ')}", line, column
    )


def _list_in(value: JsonValue) -> tuple[list[JsonValue], str] | None:
    for pointer in ("", "/tools", "/result/tools"):
        inner: JsonValue = value
        for step in pointer.split("/")[1:]:
            inner = inner.get(step) if isinstance(inner, dict) else None
        if isinstance(inner, list):
            return inner, pointer
    return None
