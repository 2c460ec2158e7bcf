"""Where two lanes answer the same bytes differently. Pure.

Between transports everything that means something is compared. Between eras only what the parser decides: whether the
bytes were taken, refused or dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from strictwire.canon import json
from strictwire.canon.json import JsonValue
from strictwire.probe.bench import Judged, Probe
from strictwire.probe.observation import Kind, Observation
from strictwire.probe.record import (
    HTTP_LEGACY,
    HTTP_MODERN,
    STDIO_LEGACY,
    STDIO_MODERN,
    Difference,
    Lane,
)

_PAIRS: Final = ((STDIO_MODERN, HTTP_MODERN), (STDIO_LEGACY, HTTP_LEGACY))
_ERA_PAIRS: Final = ((STDIO_MODERN, STDIO_LEGACY), (HTTP_MODERN, HTTP_LEGACY))

_UNANSWERED: Final = frozenset({Kind.SILENCE, Kind.ACCEPTED})
"""No message on either transport: HTTP has to send some status."""


def find_differences(probe: Probe, judged: Mapping[Lane, Judged]) -> list[Difference]:
    """Every pair of lanes that the probe compares, where both answered and the answers differ."""
    pairs = [*(_PAIRS if probe.compared else ()), *(_ERA_PAIRS if probe.across_eras else ())]
    found = []
    for left, right in pairs:
        if left in judged and right in judged:
            difference = _compare(probe, (left, judged[left]), (right, judged[right]))
            if difference is not None:
                found.append(difference)
    return found


def _compare(probe: Probe, first: tuple[Lane, Judged], second: tuple[Lane, Judged]) -> Difference | None:
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
    """1. outcome 2. code 3. text and data of an error 4. shape of a result. Eras may differ below the first."""
    if _outcome(one) != _outcome(two):
        return "outcome"
    if not is_same_era:
        return None
    if one.code != two.code:
        return "code"
    if one.kind is Kind.ERROR and (one.text, one.data) != (two.text, two.data):
        return "text"
    return "shape" if _shape(one.result) != _shape(two.result) else None


def _outcome(seen: Observation) -> str:
    return "unanswered" if seen.kind in _UNANSWERED else seen.kind.value


def _shape(value: JsonValue) -> bytes:
    """Names and types of a result: values may differ from call to call."""
    return json.render_sorted(_types(value))


def _types(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {name: _types(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_types(member) for member in value]
    return type(value).__name__
