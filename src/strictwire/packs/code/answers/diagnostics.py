"""Diagnostics of one document and of the workspace (A.3). Severities are LSP's numbers: 1 error to 4 hint."""

from __future__ import annotations

from math import isfinite

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.packs.code.answers.ids import diagnostic_id
from strictwire.packs.code.answers.locations import Inside
from strictwire.packs.code.answers.order import diagnostic_key, sort_unique
from strictwire.packs.code.answers.ranges import maybe_range
from strictwire.packs.code.answers.texts import maybe_text


def read_diagnostics(value: JsonValue, uri: str) -> list[JsonObject]:
    """The valid diagnostics of one document, in order and once each. `value` is the report, or its items."""
    items = value.get("items") if isinstance(value, dict) else value
    entries = items if isinstance(items, list) else []
    found = (_diagnostic(each, uri) for each in entries if isinstance(each, dict))
    return sort_unique((each for each in found if each is not None), diagnostic_key)


def read_workspace_diagnostics(value: JsonValue, inside: Inside) -> dict[str, list[JsonObject]]:
    """Diagnostics by canonical URI. Documents outside the roots are dropped; two spellings of one are merged."""
    items = value.get("items") if isinstance(value, dict) else None
    groups: dict[str, list[JsonObject]] = {}
    for entry in items if isinstance(items, list) else []:
        uri = inside(entry["uri"]) if isinstance(entry, dict) and isinstance(entry.get("uri"), str) else None
        if uri is not None:
            groups[uri] = groups.get(uri, []) + read_diagnostics(entry, uri)
    return groups


def group_by_file(reports: list[dict[str, list[JsonObject]]], per_file: int) -> tuple[list[JsonObject], bool]:
    """The file groups of every engine, merged, in the order of their URIs; and whether a file had more than `per_file`."""
    merged: dict[str, list[JsonObject]] = {}
    for report in reports:
        for uri, found in report.items():
            merged[uri] = merged.get(uri, []) + found
    groups = [{"uri": uri, "diagnostics": sort_unique(merged[uri], diagnostic_key)} for uri in sorted(merged)]
    shown = [group | {"diagnostics": group["diagnostics"][:per_file]} for group in groups if group["diagnostics"]]
    return shown, any(len(group["diagnostics"]) > per_file for group in groups)


def _diagnostic(value: JsonObject, uri: str) -> JsonObject | None:
    place, message = maybe_range(value.get("range")), maybe_text(value.get("message"))
    if place is None or message is None:
        return None
    severity, code = _maybe_severity(value.get("severity")), _maybe_code(value.get("code"))
    source = maybe_text(value.get("source"))
    name = diagnostic_id(uri, place, severity=severity, code=code, source=source, message=message)
    optional = {"severity": severity, "code": code, "source": source}
    present = {member: each for member, each in optional.items() if each is not None}
    return {"id": name, "range": place.as_json(), **present, "message": message}


def _maybe_severity(value: JsonValue) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _maybe_code(value: JsonValue) -> str | None:
    """A text as it is, a finite number as decimal text, an object's `value` by the same rule."""
    if isinstance(value, dict):
        value = value.get("value")
    if type(value) is int:
        return str(value)
    if type(value) is float and isfinite(value):
        return str(int(value)) if value.is_integer() else repr(value)
    return maybe_text(value)
