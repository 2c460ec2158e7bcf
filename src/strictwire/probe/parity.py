"""Finds variants that respond differently to the same bytes. Pure.

Between transports, everything that has a meaning is compared. Between eras, only what the parser decides: whether the
bytes were accepted, refused or ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from strictwire.canon import json
from strictwire.canon.json import JsonValue
from strictwire.probe.definition import Evaluation, Probe
from strictwire.probe.observation import Observation, ResponseKind
from strictwire.probe.record import (
    HTTP_LEGACY,
    HTTP_MODERN,
    STDIO_LEGACY,
    STDIO_MODERN,
    Difference,
    Variant,
)

_PAIRS: Final = ((STDIO_MODERN, HTTP_MODERN), (STDIO_LEGACY, HTTP_LEGACY))
_ERA_PAIRS: Final = ((STDIO_MODERN, STDIO_LEGACY), (HTTP_MODERN, HTTP_LEGACY))

_UNANSWERED: Final = frozenset({ResponseKind.SILENCE, ResponseKind.ACCEPTED})
"""Equal outcomes: there is no response message, but HTTP must send a status."""


def find_differences(probe: Probe, evaluations: Mapping[Variant, Evaluation]) -> list[Difference]:
    """The pairs of variants that the probe compares and whose responses differ."""
    pairs = [*(_PAIRS if probe.compared else ()), *(_ERA_PAIRS if probe.across_eras else ())]
    found = []
    for left, right in pairs:
        if left in evaluations and right in evaluations:
            difference = _compare(probe, (left, evaluations[left]), (right, evaluations[right]))
            if difference is not None:
                found.append(difference)
    return found


def _compare(probe: Probe, first: tuple[Variant, Evaluation], second: tuple[Variant, Evaluation]) -> Difference | None:
    (left, one), (right, two) = first, second
    if not one.seen or not two.seen:
        return None
    what = _find_coarsest(one.seen[0], two.seen[0], is_same_era=left.era is right.era)
    if what is None:
        return None
    return Difference(
        probe=probe.id,
        left=left,
        right=right,
        what=what,
        got_left=one.seen[0].describe(),
        got_right=two.seen[0].describe(),
    )


def _find_coarsest(one: Observation, two: Observation, *, is_same_era: bool) -> str | None:
    """Compare 1. outcome 2. code 3. text and data of an error 4. shape of a result. Between eras, only the outcome."""
    if _outcome(one) != _outcome(two):
        return "outcome"
    if not is_same_era:
        return None
    if one.code != two.code:
        return "code"
    if one.kind is ResponseKind.ERROR and (one.text, one.data) != (two.text, two.data):
        return "text"
    return "shape" if _shape(one.result) != _shape(two.result) else None


def _outcome(seen: Observation) -> str:
    return "unanswered" if seen.kind in _UNANSWERED else seen.kind.value


def _shape(value: JsonValue) -> bytes:
    """The names and types in a result, without values, which may differ from call to call."""
    return json.render_sorted(_types(value))


def _types(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {name: _types(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_types(member) for member in value]
    return type(value).__name__
