"""Proves that one schema includes another, or finds the gap where the proof stops.

Sound but not complete: a proof is always right; a gap is either a real difference or a limit of these rules. Local
references may be recursive: a pair of schemas that occurs again further inside the instance is assumed while it is being
proved (coinduction), which is sound because instances are finite.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Final, NamedTuple

from strictwire.check.inclusion import strings
from strictwire.check.inclusion.admit import piece_admits
from strictwire.check.inclusion.clauses import clause_holds
from strictwire.check.inclusion.expand import expand
from strictwire.check.inclusion.shape import (
    INTEGER_STEP,
    Layer,
    Piece,
    Root,
    Schema,
    UnsupportedSchema,
    all_of,
    fits_number,
    has_reference,
    is_same_json,
    member_schema,
    rest_schema,
)
from strictwire.check.pattern import UnsupportedPattern

MAX_STEPS: Final = 20_000
"""Maximum comparisons in one proof. The largest public tool schemas need a few hundred."""

MAX_PATH: Final = 64
"""Maximum depth of the instance that one proof descends into."""

MAX_SPLIT: Final = 16
"""Maximum values of a discriminator for which a proof by cases is tried."""

MAX_LISTED: Final = 64
"""Longest range of integers that is compared value by value."""

ITEM: Final = "*"
"""The path step into items and undeclared properties."""


class Gap(NamedTuple):
    """Where and why a proof stops. `path` leads into the instance."""

    path: tuple[str, ...]
    reason: str
    clause: bool = False
    """Whether the reason is a limit of the proof (an opaque clause, a size limit) and not a real difference."""
    examples: tuple[str, ...] = ()
    """Strings that the source accepts and the target rejects at this path, if automata found one."""


@dataclass(kw_only=True)
class Proof:
    """One proof. Mutable state: the number of comparisons so far and the current assumptions."""

    source: Root
    target: Root
    steps: int = 0
    assumed: set[tuple[str, str]] = field(default_factory=set)

    @cached_property
    def is_local(self) -> bool:
        """Whether equal schemas have the same meaning in both documents because there are no references."""
        return self.source.draft == self.target.draft and not self.source.has_references

    def find_gap(self, source: Schema, target: Schema, path: tuple[str, ...] = ()) -> Gap | None:
        """The first gap in the proof that `target` accepts everything in `source`, or None if it is proved."""
        if target is True or source is False:
            return None
        if self.is_local and is_same_json(source, target):
            return None
        key = (self.source.text_of(source), self.target.text_of(target))
        if key in self.assumed or key[1] == "{}" or (key[0] == key[1] and self._is_standalone(key[0])):
            return None
        self.steps += 1
        if self.steps > MAX_STEPS or len(path) > MAX_PATH:
            return Gap(path, "the comparison is too large", clause=True)
        self.assumed.add(key)
        try:
            return self._pieces_gap(source, target, path)
        except UnsupportedSchema as exc:
            return Gap(path, str(exc), clause=True)
        finally:
            self.assumed.discard(key)

    def _is_standalone(self, text: str) -> bool:
        """Whether equal schema texts have the same meaning in both documents."""
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
        if self.is_empty(piece):
            return None
        same = [target for target in targets if target.kind == piece.kind]
        if not same:
            return Gap(path, f"{piece.kind} values are rejected")
        piece = _listed(piece)
        if piece.literals is not None:
            return self._literals_gap(piece, same, path)
        gaps = [self._one_gap(piece, target, path) for target in same]
        if None in gaps or (piece.kind == "number" and _covers(piece, same)):
            return None
        if piece.kind == "string":
            return _string_gap(piece, same, path, gaps)
        if len(same) > 1 and self._split_holds(piece, targets, path):
            return None
        return _deepest(gaps)

    def _literals_gap(self, piece: Piece, targets: list[Piece], path: tuple[str, ...]) -> Gap | None:
        for value in piece.literals or ():
            results = [piece_admits(target, value, self.target) for target in targets]
            if True not in results and piece_admits(piece, value, self.source) is not False:
                return Gap(path, "an enum value is rejected", clause=None in results)
        return None

    def _split_holds(self, piece: Piece, targets: tuple[Piece, ...], path: tuple[str, ...]) -> bool:
        """Proof by cases: whether every value of some required property with few values has a matching alternative."""
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
        except UnsupportedSchema:
            return []
        if any(piece.literals is None for piece in pieces):
            return []
        values = [value for piece in pieces for value in piece.literals or ()]
        return values if len(values) <= MAX_SPLIT else []

    def is_empty(self, piece: Piece) -> bool:
        """Whether a piece certainly accepts nothing."""
        if piece.kind == "string":
            return piece.literals is None and strings.is_empty(piece)
        return any(self._admits_nothing(member_schema(piece, name)) for name in piece.required) or (
            piece.kind == "array" and piece.low > 0 and self._admits_nothing(member_schema(piece, 0))
        )

    def is_included(self, piece: Piece, schema: Schema) -> bool:
        """Whether the target certainly accepts everything in a piece."""
        self.steps += 1
        return self.steps <= MAX_STEPS and self._piece_gap(piece, expand(schema, self.target), ()) is None

    def never_has(self, piece: Piece, name: str) -> bool:
        """Whether no object of a piece has a property."""
        return self._admits_nothing(member_schema(piece, name))

    def _admits_nothing(self, schema: Schema) -> bool:
        try:
            return all(self.is_empty(piece) for piece in expand(schema, self.source))
        except (UnsupportedSchema, RecursionError):
            return False

    def _one_gap(self, piece: Piece, target: Piece, path: tuple[str, ...]) -> Gap | None:
        reason = _field_gap(piece, target)
        if reason is not None:
            return Gap(path, reason)
        gap = self._layers_gap(piece, target, path)
        if gap is not None:
            return gap
        missing = {clause for clause in target.opaque - piece.opaque if not clause_holds(clause, piece, self)}
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
            gap = self.find_gap(member_schema(piece, name), _strictest(layer, name), (*path, str(name)))
            if gap is not None:
                yield gap
        if piece.kind == "array" and piece.high is not None and piece.high <= len(names):
            return
        yield from self._rest_gaps(piece, layer, path)

    def _rest_gaps(self, piece: Piece, layer: Layer, path: tuple[str, ...]) -> Iterator[Gap]:
        """Gaps for properties or items that neither side declares."""
        here = (*path, ITEM)
        patterns = layer.patterned.keys()
        twin = next((own for own in piece.layers if own.patterned and own.patterned.keys() == patterns), None)
        if twin is not None:
            # The same patterns on both sides match the same names, so they can be compared pairwise.
            pairs = [(twin.patterned[text], layer.patterned[text]) for text in patterns]
            pairs.append((twin.rest, layer.rest))
        else:
            rest = all_of(rest_schema(own) for own in piece.layers)
            pairs = [(rest, schema) for schema in (layer.rest, *layer.patterned.values())]
        for source, target in pairs:
            gap = self.find_gap(source, target, here)
            if gap is not None:
                yield gap


def _deepest(gaps: list[Gap | None]) -> Gap:
    return max((gap for gap in gaps if gap), key=lambda gap: (len(gap.path), not gap.clause))


def _string_gap(piece: Piece, targets: list[Piece], path: tuple[str, ...], gaps: list[Gap | None]) -> Gap | None:
    """The gap of a string piece that no single target covers: automata decide, with an example."""
    try:
        found = strings.find_outside(piece, targets)
    except UnsupportedPattern as exc:
        return Gap(path, f"cannot compare patterns: {exc}", clause=True)
    return None if found is None else _deepest(gaps)._replace(examples=(found,))


def _listed(piece: Piece) -> Piece:
    """Replace a short range of integers by the list of its values."""
    if piece.kind != "number" or piece.literals is not None or piece.lower is None or piece.upper is None:
        return piece
    if piece.lower == piece.upper:
        return replace(piece, literals=(_as_number(piece.lower),))
    if INTEGER_STEP not in piece.multiples or piece.upper - piece.lower > MAX_LISTED:
        return piece
    run = range(int(piece.lower), int(piece.upper) + 1)
    return replace(piece, literals=tuple(value for value in run if fits_number(value, piece)))


def _as_number(number: Fraction) -> float:
    return int(number) if number.denominator == 1 else float(number)


def _strictest(layer: Layer, name: str | int) -> Schema:
    """The strictest schema that the target may apply to a property: every pattern might match its name."""
    own = layer.named.get(name, layer.rest)
    return all_of([own, *layer.patterned.values()])


def _with_member(piece: Piece, name: str, value: object) -> Piece:
    return replace(piece, layers=(*piece.layers, Layer(named={name: {"const": value}})))


def _field_gap(piece: Piece, target: Piece) -> str | None:
    """The reason for the first constraint of the target that the piece does not imply, or None; see `_FIELDS`."""
    return next((reason for holds, reason in _FIELDS if not holds(piece, target)), None)


def _least(piece: Piece) -> int:
    return max(piece.low, len(piece.required))


def _most(piece: Piece) -> int | None:
    """The largest size of a value; a closed object has at most as many properties as it declares."""
    closed = [len(layer.named) for layer in piece.layers if layer.rest is False and not layer.patterned]
    bounds = [bound for bound in (piece.high, *closed) if bound is not None]
    return min(bounds) if bounds else None


def _lower_bound_holds(piece: Piece, target: Piece) -> bool:
    if target.lower is None:
        return True
    if piece.lower is None:
        return False
    return piece.lower > target.lower or (piece.lower == target.lower and (piece.lower_open or not target.lower_open))


def _upper_bound_holds(piece: Piece, target: Piece) -> bool:
    if target.upper is None:
        return True
    if piece.upper is None:
        return False
    return piece.upper < target.upper or (piece.upper == target.upper and (piece.upper_open or not target.upper_open))


def _is_multiple(piece: Piece, target: Piece) -> bool:
    return all(any((own / other).denominator == 1 for own in piece.multiples) for other in target.multiples)


def _sizes_fit(piece: Piece, target: Piece) -> bool:
    most = _most(piece)
    return target.high is None or (most is not None and most <= target.high)


_FIELDS: Final = (
    (lambda _piece, target: target.literals is None, "only enum values are accepted"),
    (_is_multiple, "not every number is a multiple of `multipleOf`"),
    (_lower_bound_holds, "smaller numbers are rejected"),
    (_upper_bound_holds, "larger numbers are rejected"),
    (lambda piece, target: target.low <= _least(piece), "fewer characters, items or properties are rejected"),
    (_sizes_fit, "more characters, items or properties are rejected"),
    (lambda piece, target: target.required <= piece.required, "an optional property is required"),
    (
        lambda piece, target: not target.unique or piece.unique or (piece.high is not None and piece.high < 2),
        "repeated items are rejected",
    ),
)
"""Each constraint of a target: whether the piece implies it, and the reason if not."""


def _covers(piece: Piece, targets: list[Piece]) -> bool:
    """Whether the intervals of several targets together cover an integer range that none of them covers alone."""
    usable = [each for each in targets if each.literals is None and not each.opaque and _is_multiple(piece, each)]
    if piece.lower is None or piece.upper is None or INTEGER_STEP not in piece.multiples:
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
