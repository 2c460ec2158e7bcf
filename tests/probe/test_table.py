"""The table of probes is complete: unique ids, and a purpose, expectation and reason for each."""

from __future__ import annotations

import re

import pytest

from strictwire.probe.definition import Probe
from strictwire.probe.record import HTTP_LEGACY, HTTP_MODERN, STDIO_MODERN, VARIANTS
from strictwire.probe.table import PROBES


def test_ids_are_unique_and_upper_snake() -> None:
    ids = [probe.id for probe in PROBES]

    assert len(set(ids)) == len(ids)
    assert [id_ for id_ in ids if not re.fullmatch(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*", id_)] == []


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.id)
def test_every_probe_has_a_purpose_an_expectation_and_a_reason(probe: Probe) -> None:
    assert probe.purpose.startswith("Checks that ")
    assert probe.purpose.endswith(".")
    assert probe.expected
    assert probe.why
    assert any(probe.maybe_reason_to_skip(variant) is None for variant in VARIANTS)


def test_a_probe_is_skipped_on_variants_to_which_it_does_not_apply() -> None:
    by_id = {probe.id: probe for probe in PROBES}

    assert by_id["HOST_FOREIGN"].maybe_reason_to_skip(STDIO_MODERN) == "only over http"
    assert by_id["SESSION_ON_REFUSAL"].maybe_reason_to_skip(HTTP_MODERN) == "only in the legacy era"
    assert by_id["SESSION_ON_REFUSAL"].maybe_reason_to_skip(HTTP_LEGACY) is None
