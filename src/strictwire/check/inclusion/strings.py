"""Compares string pieces with automata: emptiness, and inclusion in a union of other string pieces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import NotStrict, parse_object
from strictwire.check.inclusion.shape import Piece
from strictwire.check.language import Strings, find_string
from strictwire.check.pattern import UnsupportedPattern

FORMAT_BOUNDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "uuid": "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
        "date": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
        "ipv4": "^[0-9.]{7,15}$",
        "ipv6": "^[0-9a-fA-F:.]{2,45}$",
    }
)
"""A pattern that every string of the format matches. Strings that match it need not have the format."""


def is_empty(piece: Piece) -> bool:
    """Whether the patterns and lengths of a string piece exclude every string. False if that cannot be decided."""
    source, _ = _read(piece)
    if not source.patterns:
        return False
    try:
        return find_string(source) is None
    except UnsupportedPattern:
        return False


def find_outside(piece: Piece, targets: Sequence[Piece]) -> str | None:
    """A string of a piece that is in no target, or None if every string is in one. Raises UnsupportedPattern.

    A found string is a candidate: `piece` may have clauses (such as a format) that automata do not know.
    """
    source, own = _read(piece)
    known = [strings for target in targets for strings in _read_target(target, own)]
    return find_string(source, known)


def _read(piece: Piece) -> tuple[Strings, frozenset[str]]:
    """An upper bound of a piece, and the clauses that it leaves out."""
    patterns, others = _split(piece)
    bounds = {FORMAT_BOUNDS[name] for clause in others if (name := _keyword(clause, "format")) in FORMAT_BOUNDS}
    return Strings(patterns=patterns | bounds, low=piece.low, high=piece.high), others


def _read_target(target: Piece, given: frozenset[str]) -> Iterator[Strings]:
    """A lower bound of a target, as a union: nothing if it has clauses that the source does not have."""
    patterns, others = _split(target)
    if others <= given:
        if target.literals is None:
            yield Strings(patterns=patterns, low=target.low, high=target.high)
        elif not patterns:
            yield from (Strings(patterns=frozenset({_exactly(text)})) for text in target.literals)


def _exactly(text: str) -> str:
    return (
        "^" + "".join(char if char.isalnum() else f"[{char}]" if char not in "\\]^" else f"\\{char}" for char in text) + "$"
    )


def _split(piece: Piece) -> tuple[frozenset[str], frozenset[str]]:
    """The patterns of a piece, and its other clauses."""
    patterns = {clause: _keyword(clause, "pattern") for clause in piece.opaque}
    others = frozenset(clause for clause, text in patterns.items() if not text)
    return frozenset(text for text in patterns.values() if text), others


def _keyword(clause: str, name: str) -> str:
    """The value of the one keyword of a clause; empty if the clause has another keyword."""
    if not clause.startswith(f'{{"{name}":"'):
        return ""
    try:
        fragment = parse_object(clause.partition(" in ")[0].encode())
    except NotStrict:
        return ""
    value = fragment.get(name)
    return value if isinstance(value, str) and len(fragment) == 1 else ""
