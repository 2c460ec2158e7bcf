"""The table of probes is whole: ids, purposes, and nothing said twice."""

from __future__ import annotations

import re

import pytest

from strictwire.probe.bench import Probe
from strictwire.probe.record import HTTP_LEGACY, HTTP_MODERN, LANES, STDIO_MODERN
from strictwire.probe.table import PROBES


def test_ids_are_unique_and_upper_snake() -> None:
    ids = [probe.id for probe in PROBES]

    assert len(set(ids)) == len(ids)
    assert [id_ for id_ in ids if not re.fullmatch(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*", id_)] == []


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.id)
def test_every_probe_says_what_it_is_for(probe: Probe) -> None:
    assert probe.purpose.startswith("Checks that ")
    assert probe.purpose.endswith(".")
    assert probe.expected
    assert probe.why
    assert any(probe.maybe_reason_to_skip(lane) is None for lane in LANES)


def test_a_probe_is_sent_only_where_it_applies() -> None:
    by_id = {probe.id: probe for probe in PROBES}

    assert by_id["HOST_FOREIGN"].maybe_reason_to_skip(STDIO_MODERN) == "only over http"
    assert by_id["SESSION_ON_REFUSAL"].maybe_reason_to_skip(HTTP_MODERN) == "only in the legacy era"
    assert by_id["SESSION_ON_REFUSAL"].maybe_reason_to_skip(HTTP_LEGACY) is None
