"""Fixes of lint findings in the text of a schema file. Pure.

A fix is made only if it certainly keeps the accepted values and their meaning. It edits the text at one place and leaves the
layout of the rest alone. The result is parsed again: if it is not the old value with exactly the intended change, the text
stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from strictwire.canon.json import JsonObject, Limits, NotStrict, parse, render
from strictwire.check.finding import Finding
from strictwire.check.location import find_offsets
from strictwire.contract.schema import DIALECT, split_pointer, walk

_decode = json.JSONDecoder().raw_decode
_SPACE: Final = " \t\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """A text after the fixes, and the rules whose findings they mend."""

    raw: bytes
    rules: tuple[str, ...] = ()


def fix_text(raw: bytes, findings: Iterable[Finding], limits: Limits) -> Fixed:
    """Mend what can be mended with certainty of the findings in one file."""
    mended: list[str] = []
    for finding in findings:
        fix = FIXES.get(finding.rule)
        after = _apply(raw, fix, split_pointer(finding.pointer), limits) if fix is not None else None
        if after is not None:
            raw = after
            mended.append(finding.rule)
    return Fixed(raw=raw, rules=tuple(mended))


@dataclass(frozen=True, slots=True)
class Document:
    """A text and its value. `edit` methods return the text after one change."""

    text: str
    value: Any

    def at(self, path: tuple[str, ...]) -> Any:
        """The value at a path, or None."""
        value = self.value
        for step in path:
            value = value[int(step)] if isinstance(value, list) else value.get(step) if isinstance(value, dict) else None
        return value

    def insert(self, path: tuple[str, ...], value: Any, *, before: str = "") -> str:
        """Insert a member before another one, or as the first of its object, with the same space before it."""
        *parent, name = path
        start = self._value_start(tuple(parent)) + 1
        if before:
            start = find_offsets(self.text, [(*parent, before)])[*parent, before]
            space = self.text[len(self.text[:start].rstrip(_SPACE)) : start]
        else:
            space = self.text[start : self._past_space(start)]
        member = f"{_json(name)}: {_json(value)}"
        if self.text[self._past_space(start)] == "}":
            return self.text[:start] + member + self.text[self._past_space(start) :]
        return self.text[:start] + (member + "," + space if before else space + member + ",") + self.text[start:]

    def replace(self, path: tuple[str, ...], value: Any) -> str:
        """Replace the value of a member."""
        start = self._value_start(path)
        return self.text[:start] + _json(value) + self.text[_decode(self.text, start)[1] :]

    def delete(self, path: tuple[str, ...]) -> str:
        """Delete a member, with the comma that separates it."""
        start = find_offsets(self.text, [path])[path]
        end = self._past_space(_decode(self.text, self._value_start(path))[1])
        if self.text[end] == ",":
            return self.text[:start] + self.text[self._past_space(end + 1) :]
        before = self.text[:start].rstrip(_SPACE)
        closing = self.text[_decode(self.text, self._value_start(path))[1] :]
        return before.removesuffix(",") + closing if before.endswith(",") else before + closing.lstrip(_SPACE)

    def _value_start(self, path: tuple[str, ...]) -> int:
        start = find_offsets(self.text, [path])[path]
        if not path or isinstance(self.at(path[:-1]), list):
            return start
        colon = self._past_space(_decode(self.text, start)[1])
        return self._past_space(colon + 1)

    def _past_space(self, at: int) -> int:
        while self.text[at] in _SPACE:
            at += 1
        return at


def _json(value: Any) -> str:
    return render(value).decode()


Fix = Callable[[Document, tuple[str, ...]], tuple[str, Any] | None]
"""From a document and the path of a finding: the text after the fix and the value that it must have, or None."""


def _apply(raw: bytes, fix: Fix, path: tuple[str, ...], limits: Limits) -> bytes | None:
    try:
        document = Document(raw.decode(), parse(raw, limits))
        fixed = fix(document, path) if isinstance(document.at(path[:-1]), dict) else None
        return fixed[0].encode() if fixed is not None and parse(fixed[0].encode(), limits) == fixed[1] else None
    except (NotStrict, UnicodeDecodeError, ValueError, LookupError):
        return None


def _with(document: Document, path: tuple[str, ...], change: Callable[[JsonObject], object]) -> Any:
    """The value of a document after a change of the object at a path."""
    changed = Document("", deepcopy(document.value))
    change(changed.at(path))
    return changed.value


def _name_dialect(document: Document, path: tuple[str, ...]) -> tuple[str, Any] | None:
    """Add `$schema`: without it, 2020-12 applies. Replace draft-07 if every keyword means the same in both dialects."""
    schema = document.at(path[:-1])
    if "$schema" in schema and not _means_the_same(schema):
        return None
    value = _with(document, path[:-1], lambda parent: parent.__setitem__("$schema", DIALECT))
    return (document.replace if "$schema" in schema else document.insert)(path, DIALECT), value


_DRAFT_7: Final = frozenset({"http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-07/schema"})

_CHANGED: Final = frozenset(
    {"$id", "id", "additionalItems", "dependencies", "prefixItems", "minContains", "maxContains", "dependentRequired"}
    | {"dependentSchemas", "unevaluatedItems", "unevaluatedProperties", "$anchor", "$dynamicRef", "$dynamicAnchor"}
    | {"$recursiveRef", "$recursiveAnchor", "$vocabulary", "contains"}
)
"""Keywords that draft-07 and 2020-12 read differently, or that only one of them knows."""


def _means_the_same(schema: JsonObject) -> bool:
    """Whether 2020-12 reads a draft-07 schema as draft-07 does. A property named like a keyword counts as that keyword."""
    return schema.get("$schema") in _DRAFT_7 and not any(
        not _CHANGED.isdisjoint(part) or isinstance(part.get("items"), list) or ("$ref" in part and len(part) > 1)
        for _, part in walk({name: value for name, value in schema.items() if name != "$schema"})
    )


def _list_required(document: Document, path: tuple[str, ...]) -> tuple[str, Any] | None:
    """Add an empty `required`, which says what its absence says. Draft-04 forbids an empty one."""
    if "draft-04" in document.text:
        return None
    value = _with(document, path[:-1], lambda parent: parent.__setitem__("required", []))
    return document.insert(path, [], before="properties"), value


def _drop_definition(document: Document, path: tuple[str, ...]) -> tuple[str, Any] | None:
    """Delete a definition to which nothing refers."""
    return document.delete(path), _with(document, path[:-1], lambda parent: parent.pop(path[-1]))


FIXES: Final[Mapping[str, Fix]] = MappingProxyType(
    {
        "SCHEMA_DIALECT": _name_dialect,
        "CLIENT_DIALECT": _name_dialect,
        "CLIENT_OUTPUT_DIALECT": _name_dialect,
        "REQUIRED_EXPLICIT": _list_required,
        "DEFS_USED": _drop_definition,
    }
)
"""The fix of each rule that has one."""
