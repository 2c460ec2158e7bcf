"""A strictwire server whose tools return and raise invalid values has no findings and no differences."""

from __future__ import annotations

import pytest
from tests.probe.peers import OWN, STDIO, got, probed

from strictwire.probe.record import VARIANTS, ProbeReport

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def report() -> ProbeReport:
    return probed(OWN)


@pytest.mark.clause("V10")
def test_there_are_no_differences(report: ProbeReport) -> None:
    assert report.variants == VARIANTS
    assert report.differences == ()


def test_there_are_no_findings(report: ProbeReport) -> None:
    assert [(result.probe, str(result.variant), result.got) for result in report.findings] == []


def test_probes_are_skipped_only_for_another_transport_or_era(report: ProbeReport) -> None:
    reasons = {result.got for result in report.results if result.status.value == "not applicable"}

    assert reasons == {"only over http", "only over stdio", "only in the modern era", "only in the legacy era"}


def test_every_request_before_the_end_of_input_got_a_response(report: ProbeReport) -> None:
    for variant in STDIO:
        count, of, total = got(report, "EOF_ANSWERED", variant).split()[2:5]

        assert (count, of) == (total, "of")
