"""The proof that one schema includes another, or the place where it stops.

Sound, not complete: a proof is always right; a gap may be a real difference or the end of what these rules can see.
Local references may be recursive: a pair that is met again further inside the instance is assumed while it is being
proved, which is right because instances are finite.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final, NamedTuple

from strictwire.check.inclusion.admit import piece_admits
from strictwire.check.inclusion.expand import expand
from strictwire.check.inclusion.shape import (
    WHOLE,
    Layer,
    Piece,
    Root,
    Schema,
    Unsupported,
    all_of,
    fits_number,
    has_reference,
    member_schema,
    rest_schema,
    text_of,
)

MAX_STEPS: Final = 20_000
"""Comparisons of one proof. The largest public tool schemas need a few hundred."""

MAX_SPLIT: Final = 16
"""Values of a discriminator that are tried one by one."""

MAX_LISTED: Final = 64
"""Whole numbers of a run that are tried one by one."""

ITEM: Final = "*"
"""The step of a path into items and free members."""


class Gap(NamedTuple):
    """Where a proof stops: the path into the instance, and the reason."""

    path: tuple[str, ...]
    reason: str
    clause: bool = False
    """Whether the reason is a clause that cannot be compared, rather than a plain difference."""


@dataclass(slots=True, kw_only=True)
class Proof:
    """One question. Mutable only in what it has spent and assumes."""

    source: Root
    target: Root
    steps: int = 0
    assumed: set[tuple[str, str]] = field(default_factory=set)

    def find_gap(self, source: Schema, target: Schema, path: tuple[str, ...] = ()) -> Gap | None:
        """Why not everything in `source` is proved to be in `target`, or None."""
        if target is True or source is False:
            return None
        key = (text_of(source), text_of(target))
        if key in self.assumed or key[1] == "{}" or (key[0] == key[1] and self._is_standalone(key[0])):
            return None
        self.steps += 1
        if self.steps > MAX_STEPS or len(path) > 64:
            return Gap(path, "the comparison is too large", clause=True)
        self.assumed.add(key)
        try:
            return self._pieces_gap(source, target, path)
        except Unsupported as exc:
            return Gap(path, str(exc), clause=True)
        finally:
            self.assumed.discard(key)

    def _is_standalone(self, text: str) -> bool:
        """Whether equal texts mean the same on both sides."""
        if self.source.text == self.target.text:
            return True
        return self.source.draft == self.target.draft and not has_reference(text)

    def _pieces_gap(self, source: Schema, target: Schema, path: tuple[str, ...]) -> Gap | None:
        targets = expand(target, self.target)
        for piece in expand(source, self.source):
            gap = self._piece_gap(piece, targets, path)
            if gap is not None:
                return gap
        return None

    def _piece_gap(self, piece: Piece, targets: tuple[Piece, ...], path: tuple[str, ...]) -> Gap | None:
        if self._is_empty(piece):
            return None
        same = [target for target in targets if target.kind == piece.kind]
        piece = _listed(piece)
        if piece.literals is not None:
            return self._literals_gap(piece, same, path)
        gaps = [self._one_gap(piece, target, path) for target in same]
        if not gaps:
            return Gap(path, f"{piece.kind} values are refused")
        if None in gaps or (piece.kind == "number" and _covers(piece, same)):
            return None
        if len(same) > 1 and self._split_holds(piece, targets, path):
            return None
        return max((gap for gap in gaps if gap), key=lambda gap: (len(gap.path), not gap.clause))

    def _literals_gap(self, piece: Piece, targets: list[Piece], path: tuple[str, ...]) -> Gap | None:
        for value in piece.literals or ():
            answers = [piece_admits(target, value, self.target) for target in targets]
            if True not in answers and piece_admits(piece, value, self.source) is not False:
                return Gap(path, "a listed value is refused", clause=None in answers)
        return None

    def _split_holds(self, piece: Piece, targets: tuple[Piece, ...], path: tuple[str, ...]) -> bool:
        """Whether each value of a required member with few values leads to an alternative of its own."""
        if piece.kind != "object" or len(piece.layers) > 4:
            return False
        for name in sorted(piece.required):
            values = self._few_values(member_schema(piece, name))
            if values and not any(name in layer.named and len(values) == 1 for layer in piece.layers):
                parts = [_with_member(piece, name, value) for value in values]
                if all(self._piece_gap(part, targets, path) is None for part in parts):
                    return True
        return False

    def _few_values(self, schema: Schema) -> list[object]:
        try:
            pieces = expand(schema, self.source)
        except Unsupported:
            return []
        if any(piece.literals is None for piece in pieces):
            return []
        values = [value for piece in pieces for value in piece.literals or ()]
        return values if len(values) <= MAX_SPLIT else []

    def _is_empty(self, piece: Piece) -> bool:
        return any(self._admits_nothing(member_schema(piece, name)) for name in piece.required) or (
            piece.kind == "array" and piece.low > 0 and self._admits_nothing(member_schema(piece, 0))
        )

    def _admits_nothing(self, schema: Schema) -> bool:
        try:
            return not expand(schema, self.source)
        except Unsupported:
            return False

    def _one_gap(self, piece: Piece, target: Piece, path: tuple[str, ...]) -> Gap | None:
        plain = _plain_gap(piece, target)
        if plain is not None:
            return Gap(path, plain)
        gap = self._layers_gap(piece, target, path)
        if gap is not None:
            return gap
        missing = target.opaque - piece.opaque
        return Gap(path, f"cannot compare {_shown(min(missing))}", clause=True) if missing else None

    def _layers_gap(self, piece: Piece, target: Piece, path: tuple[str, ...]) -> Gap | None:
        found = (gap for layer in target.layers for gap in self._layer_gaps(piece, layer, path))
        return next(found, None)

    def _layer_gaps(self, piece: Piece, layer: Layer, path: tuple[str, ...]) -> Iterator[Gap]:
        names: set[str | int] = set(layer.named)
        names.update(name for own in piece.layers for name in own.named)
        if piece.kind == "array" and piece.high is not None:
            names = {name for name in names if isinstance(name, int) and name < piece.high}
        for name in sorted(names, key=str):
            gap = self.find_gap(member_schema(piece, name), _asked(layer, name), (*path, str(name)))
            if gap is not None:
                yield gap
        if piece.kind == "array" and piece.high is not None and piece.high <= len(names):
            return
        yield from self._rest_gaps(piece, layer, path)

    def _rest_gaps(self, piece: Piece, layer: Layer, path: tuple[str, ...]) -> Iterator[Gap]:
        """Members that neither side names."""
        here = (*path, ITEM)
        twin = next((own for own in piece.layers if own.patterned and own.patterned.keys() == layer.patterned.keys()), None)
        if twin is not None:
            pairs = [(twin.patterned[text], layer.patterned[text]) for text in layer.patterned]
            pairs.append((twin.rest, layer.rest))
        else:
            mine = all_of(rest_schema(own) for own in piece.layers)
            pairs = [(mine, asked) for asked in (layer.rest, *layer.patterned.values())]
        for mine, asked in pairs:
            gap = self.find_gap(mine, asked, here)
            if gap is not None:
                yield gap


def _listed(piece: Piece) -> Piece:
    """A short run of whole numbers as the list that it is."""
    if piece.kind != "number" or piece.literals is not None or piece.lower is None or piece.upper is None:
        return piece
    if piece.lower == piece.upper:
        return replace(piece, literals=(_plain(piece.lower),))
    if WHOLE not in piece.multiples or piece.upper - piece.lower > MAX_LISTED:
        return piece
    run = range(int(piece.lower), int(piece.upper) + 1)
    return replace(piece, literals=tuple(value for value in run if fits_number(value, piece)))


def _plain(number: Fraction) -> float:
    return int(number) if number.denominator == 1 else float(number)


def _asked(layer: Layer, name: str | int) -> Schema:
    """The most the target may ask of a member: every pattern might match it."""
    own = layer.named.get(name, layer.rest)
    return all_of([own, *layer.patterned.values()])


def _with_member(piece: Piece, name: str, value: object) -> Piece:
    return replace(piece, layers=(*piece.layers, Layer(named={name: {"const": value}})))


def _plain_gap(piece: Piece, target: Piece) -> str | None:
    """The first field in which the piece asks less than the target; see the table."""
    return next((reason for holds, reason in _FIELDS if not holds(piece, target)), None)


def _least(piece: Piece) -> int:
    return max(piece.low, len(piece.required))


def _most(piece: Piece) -> int | None:
    """Closed objects have no more members than names."""
    closed = [len(layer.named) for layer in piece.layers if layer.rest is False and not layer.patterned]
    bounds = [bound for bound in (piece.high, *closed) if bound is not None]
    return min(bounds) if bounds else None


def _below(piece: Piece, target: Piece) -> bool:
    if target.lower is None:
        return True
    if piece.lower is None:
        return False
    return piece.lower > target.lower or (piece.lower == target.lower and (piece.lower_open or not target.lower_open))


def _above(piece: Piece, target: Piece) -> bool:
    if target.upper is None:
        return True
    if piece.upper is None:
        return False
    return piece.upper < target.upper or (piece.upper == target.upper and (piece.upper_open or not target.upper_open))


def _is_multiple(piece: Piece, target: Piece) -> bool:
    return all(any((own / asked).denominator == 1 for own in piece.multiples) for asked in target.multiples)


def _sizes_fit(piece: Piece, target: Piece) -> bool:
    most = _most(piece)
    return target.high is None or (most is not None and most <= target.high)


_FIELDS: Final = (
    (lambda _piece, target: target.literals is None, "only listed values are accepted"),
    (_is_multiple, "not every value is a multiple of what is asked"),
    (_below, "smaller numbers are refused"),
    (_above, "larger numbers are refused"),
    (lambda piece, target: target.low <= _least(piece), "fewer characters, items or members are refused"),
    (_sizes_fit, "more characters, items or members are refused"),
    (lambda piece, target: target.required <= piece.required, "a member must be present that may be absent"),
    (
        lambda piece, target: not target.unique or piece.unique or (piece.high is not None and piece.high < 2),
        "repeated items are refused",
    ),
)
"""What each field of a target asks, and how to say that it is not met."""


def _covers(piece: Piece, targets: list[Piece]) -> bool:
    """Whether intervals together cover the piece, none of them alone."""
    usable = [each for each in targets if each.literals is None and not each.opaque and _is_multiple(piece, each)]
    if piece.lower is None or piece.upper is None or WHOLE not in piece.multiples:
        return False
    reached: Fraction = piece.lower
    for each in sorted(usable, key=lambda each: (each.lower is not None, each.lower or 0)):
        if each.lower is None or each.lower <= reached:
            if each.upper is None:
                return True
            reached = max(reached, Fraction(each.upper // 1) + 1)
    return reached > piece.upper


def _shown(clause: str) -> str:
    text = clause.partition(" in ")[0]
    return text if len(text) <= 80 else text[:77] + "..."
