"""What counts as a difference between two variants."""

from __future__ import annotations

import pytest

from strictwire.canon import json
from strictwire.probe.definition import Probe, passed, skipped
from strictwire.probe.observation import Observation, ResponseKind, observe
from strictwire.probe.parity import find_differences
from strictwire.probe.record import HTTP_LEGACY, HTTP_MODERN, STDIO_LEGACY, STDIO_MODERN, Difference
from strictwire.probe.table import PROBES

PROBE = next(probe for probe in PROBES if probe.id == "JSON_TRUNCATED")


def error(code: int, text: str = "m") -> Observation:
    return observe([json.render({"jsonrpc": "2.0", "error": {"code": code, "message": text}})])


def result(value: object) -> Observation:
    return observe([json.render({"jsonrpc": "2.0", "id": 1, "result": {"value": value}})])


SILENCE = Observation(kind=ResponseKind.SILENCE)
ACCEPTED = Observation(kind=ResponseKind.ACCEPTED, status=202)


@pytest.mark.parametrize(
    ("left", "right", "what"),
    [
        (SILENCE, ACCEPTED, None),
        (SILENCE, error(-32700), "outcome"),
        (error(-32700), error(-32600), "code"),
        (error(-32700, "a"), error(-32700, "b"), "text"),
        (error(-32700), error(-32700), None),
        (result(1), result(2), None),
        (result(1), result("1"), "shape"),
        (result([1]), result([1, 2]), "shape"),
    ],
)
def test_between_transports_the_coarsest_difference_is_reported(
    left: Observation, right: Observation, what: str | None
) -> None:
    differences = find_differences(PROBE, {STDIO_MODERN: passed(left), HTTP_MODERN: passed(right)})

    assert [each.what for each in differences] == ([] if what is None else [what])


def test_between_eras_only_the_outcome_is_compared() -> None:
    judged = {HTTP_MODERN: passed(error(-32700, "a")), HTTP_LEGACY: passed(error(-32600, "b"))}

    assert find_differences(PROBE, judged) == []

    judged |= {HTTP_LEGACY: passed(result(1))}
    assert find_differences(PROBE, judged) == [
        Difference(
            probe="JSON_TRUNCATED",
            left=HTTP_MODERN,
            right=HTTP_LEGACY,
            what="outcome",
            got_left="error -32700 'a'",
            got_right="""result '{"value":1}'""",
        )
    ]


def test_a_skipped_probe_is_not_compared() -> None:
    assert find_differences(PROBE, {STDIO_LEGACY: skipped("why"), HTTP_LEGACY: passed(result(1))}) == []


def test_every_compared_probe_applies_to_both_transports() -> None:
    def applies(probe: Probe) -> bool:
        return len(probe.transports) == 2

    assert [probe.id for probe in PROBES if probe.compared and not applies(probe) and probe.across_eras] == []
