"""Our own server, with tools that return and raise what they should not, gives the probe nothing to find."""

from __future__ import annotations

import pytest
from tests.probe.peers import OWN, STDIO, got, probed

from strictwire.probe.record import LANES, Report

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def report() -> Report:
    return probed(OWN)


@pytest.mark.clause("V10")
def test_there_is_no_difference_between_stdio_and_http(report: Report) -> None:
    assert report.lanes == LANES
    assert report.differences == ()


def test_there_is_no_finding(report: Report) -> None:
    assert [(verdict.probe, str(verdict.lane), verdict.got) for verdict in report.findings] == []


def test_what_was_skipped_is_only_what_belongs_elsewhere(report: Report) -> None:
    reasons = {verdict.got for verdict in report.verdicts if verdict.status.value == "not applicable"}

    assert reasons == {"only over http", "only over stdio", "only in the modern era", "only in the legacy era"}


def test_every_try_with_immediate_end_of_input_was_answered(report: Report) -> None:
    for lane in STDIO:
        made, of, total = got(report, "EOF_ANSWERED", lane).split()[2:5]

        assert (made, of) == (total, "of")
