"""Reads a saved `tools/list` response: the JSON-RPC response, its result, or the bare list of tools."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from strictwire.canon.json import JsonValue, Limits, NotStrict, parse
from strictwire.check.location import offset_location
from strictwire.check.subject import ReadProblem, SourceLocation, ToolSet
from strictwire.sources.client_config import has_servers
from strictwire.sources.entries import MALFORMED, read_entries
from strictwire.sources.refused import SourceRefused
from strictwire.sources.whole_file import read_whole

LIMITS: Final = Limits(size=64 * 1024 * 1024, values=2_000_000)
"""Enough for ten thousand tools of six kilobytes each."""

NOT_JSON: Final = "FILE_STRICT_JSON"
"""The lint rule under which invalid JSON is reported."""


def read_dump(path: Path) -> ToolSet:
    """The tools of a file. Raises SourceRefused if the file cannot be read; invalid content is a ReadProblem."""
    if path.suffix == ".py":
        raise SourceRefused(str(path), f"expected JSON, not a Python file; write MODULE:NAME, such as {path.stem}:server")
    return parse_dump(read_whole(path, LIMITS.size), str(path))


def parse_dump(raw: bytes, label: str) -> ToolSet:
    """The tools of a saved response. Invalid content is a ReadProblem of the result."""
    try:
        value = parse(raw, LIMITS)
    except NotStrict as exc:
        return ToolSet(label=label, subjects=(), read_problems=(not_json_problem(exc, raw, label),), texts={label: raw})
    found = _list_in(value)
    if found is None:
        problem = ReadProblem(MALFORMED, SourceLocation(label), _no_tools(value, label), 1, 1)
        return ToolSet(label=label, subjects=(), read_problems=(problem,), texts={label: raw})
    entries, pointer = found
    subjects, read_problems = read_entries(entries, SourceLocation(label, pointer))
    return ToolSet(label=label, subjects=subjects, read_problems=read_problems, texts={label: raw})


def _no_tools(value: JsonValue, label: str) -> str:
    if isinstance(value, dict) and has_servers(value):
        return f"this is the configuration of a client; to start its servers and check their tools, use client:{label}"
    return "no tools found: expected a tools/list response or a list of tools"


def not_json_problem(exc: NotStrict, raw: bytes, file: str) -> ReadProblem:
    """The ReadProblem for a file that is not strict JSON, with line and column."""
    line, column = offset_location(raw, exc.position) if exc.position is not None else (1, 1)
    return ReadProblem(
        NOT_JSON, SourceLocation(file), f"the file is not strict JSON: {exc.fault.value.replace('_', ' ')}", line, column
    )


def _list_in(value: JsonValue) -> tuple[list[JsonValue], str] | None:
    for pointer in ("", "/tools", "/result/tools"):
        inner: JsonValue = value
        for step in pointer.split("/")[1:]:
            inner = inner.get(step) if isinstance(inner, dict) else None
        if isinstance(inner, list):
            return inner, pointer
    return None
