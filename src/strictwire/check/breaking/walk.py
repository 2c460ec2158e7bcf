"""Pairs the corresponding subschemas of two versions of a schema, by name and position."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from strictwire.canon.json import JsonObject
from strictwire.check.inclusion.prove import ITEM
from strictwire.check.inclusion.shape import is_same_json
from strictwire.contract.schema import escape_pointer

MAX_PAIRS = 5_000
"""Pairs of subschemas visited to explain a result. Bounds the work; the result itself does not depend on it."""

MAX_REFS = 32
"""References followed in a row; more are treated as a cycle."""


class VersionPair(NamedTuple):
    """Two corresponding subschemas."""

    old: JsonObject
    new: JsonObject
    pointer: str
    """JSON pointer into the new schema."""
    path: tuple[str, ...]
    """The path into the instance."""


def walk_pairs(old: JsonObject, new: JsonObject) -> Iterator[VersionPair]:
    """The pairs of subschemas, the roots first. Follows local references on both sides."""
    return _Walk(old, new).pairs(old, new, "", ())


class _Walk:
    def __init__(self, old: JsonObject, new: JsonObject) -> None:
        self.roots = (old, new)
        self.seen: set[tuple[int, int]] = set()
        definitions = [{name: root.get(name) for name in ("$defs", "definitions")} for root in self.roots]
        # Equal subschemas are skipped, unless a reference in them could lead to different definitions.
        self.skips_equal = is_same_json(*definitions)

    def pairs(self, old: Any, new: Any, pointer: str, path: tuple[str, ...]) -> Iterator[VersionPair]:
        old, _ = self._resolve(old, self.roots[0], "")
        new, pointer = self._resolve(new, self.roots[1], pointer)
        if not isinstance(old, dict) or not isinstance(new, dict) or (id(old), id(new)) in self.seen:
            return
        self.seen.add((id(old), id(new)))
        if len(self.seen) > MAX_PAIRS or _COMPOSED & (old.keys() ^ new.keys()):
            # If only one side uses allOf, anyOf or oneOf, the keywords beside it do not correspond. The finding then
            # relies on the witness.
            return
        if path and self.skips_equal and is_same_json(old, new):
            return
        yield VersionPair(old, new, pointer, path)
        for keyword, children in _CHILDREN:
            for before, after, at, step in children(old.get(keyword), new.get(keyword)):
                yield from self.pairs(before, after, f"{pointer}/{keyword}{at}", path + step)

    def _resolve(self, schema: Any, root: JsonObject, pointer: str) -> tuple[Any, str]:
        for _ in range(MAX_REFS):
            target = schema.get("$ref") if isinstance(schema, dict) else None
            if not isinstance(target, str) or not target.startswith("#"):
                return schema, pointer
            schema, pointer = _resolve_pointer(root, target), target[1:]
        return None, pointer


def _resolve_pointer(root: Any, reference: str) -> Any:
    for step in reference.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(root, list):
            root = root[int(name)] if name.isdigit() and int(name) < len(root) else None
        else:
            root = root.get(name) if isinstance(root, dict) else None
    return root


_Child = tuple[Any, Any, str, tuple[str, ...]]
"""The old and the new subschema, the rest of the pointer, and the step into the instance."""


def _named(old: Any, new: Any) -> Iterator[_Child]:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in old:
            if name in new:
                yield old[name], new[name], f"/{escape_pointer(name)}", (name,)


def _patterned(old: Any, new: Any) -> Iterator[_Child]:
    return ((before, after, at, (ITEM,)) for before, after, at, _ in _named(old, new))


def _single(old: Any, new: Any) -> Iterator[_Child]:
    if isinstance(old, dict) and isinstance(new, dict):
        yield old, new, "", (ITEM,)


def _listed(old: Any, new: Any) -> Iterator[_Child]:
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield before, after, f"/{index}", (str(index),)


def _branches(old: Any, new: Any) -> Iterator[_Child]:
    return ((before, after, at, ()) for before, after, at, _ in _listed(old, new))


_COMPOSED = frozenset({"allOf", "anyOf", "oneOf"})
_CHILDREN = (
    ("properties", _named),
    ("patternProperties", _patterned),
    ("additionalProperties", _single),
    ("items", _single),
    ("prefixItems", _listed),
    ("allOf", _branches),
    ("anyOf", _branches),
    ("oneOf", _branches),
)
