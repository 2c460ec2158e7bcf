"""The text or schema that a finding is about, short enough for a report."""

from __future__ import annotations

from typing import Any, Final

from strictwire.canon.json import JsonObject, render
from strictwire.check.subject import SourceLocation, Subject
from strictwire.contract.schema import split_pointer
from strictwire.contract.tool import ToolContract
from strictwire.fault.redact import redact_text

MAX_EXCERPT: Final = 200
"""Longest excerpt in characters: two lines on a terminal."""


def excerpt_at(subject: Subject, origin: SourceLocation) -> str:
    """The value at a location of a tool, or an empty string if it is the whole tool or a text that is missing."""
    contract = subject.contract
    roots: tuple[tuple[SourceLocation, JsonObject | None], ...] = (
        (subject.input, contract.input_schema),
        (subject.output, contract.output_schema),
        (subject.entry, _texts(contract)),
    )
    for root, value in roots:
        if origin.file == root.file and f"{origin.pointer}/".startswith(f"{root.pointer}/") and origin != subject.entry:
            steps = split_pointer(origin.pointer.removeprefix(root.pointer))
            # A missing keyword is shown by the schema that lacks it.
            found = _resolve(value, steps) or (_resolve(value, steps[:-1]) if root != subject.entry else None)
            if found:
                return _shown(found)
    return ""


def _texts(contract: ToolContract) -> JsonObject:
    return {"title": contract.title, "description": contract.description, "annotations": dict(contract.annotations)}


def _resolve(value: Any, steps: tuple[str, ...]) -> Any:
    for step in steps:
        if isinstance(value, list):
            value = value[int(step)] if step.isdecimal() and int(step) < len(value) else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


def _shown(value: Any) -> str:
    """The text of a string, the JSON of another value; of one that is too long, only its outermost members."""
    text = redact_text(value if isinstance(value, str) else _json(value))
    return text if len(text) <= MAX_EXCERPT else text[: MAX_EXCERPT - 1] + "…"


def _json(value: Any) -> str:
    whole = render(value).decode()
    if len(whole) <= MAX_EXCERPT or not isinstance(value, dict):
        return whole
    members = (f"{_word(name)}:{_collapsed(member)}" for name, member in value.items())
    return "{" + ",".join(members) + "}"


def _collapsed(value: Any) -> str:
    return ("{…}" if isinstance(value, dict) else "[…]") if isinstance(value, dict | list) and value else _word(value)


def _word(value: Any) -> str:
    return render(value).decode()
