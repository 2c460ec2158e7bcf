"""Findings are ranked by harm; each cause is one finding; the framework's are told apart."""

from __future__ import annotations

from dataclasses import replace

from tests.probe.reports import HOSTILE, REPORT

from strictwire.probe.findings import rank_findings
from strictwire.probe.harm import Harm


def test_the_worst_comes_first_and_each_cause_once() -> None:
    ranked = [(each.probe.id, each.harm, each.is_shared, len(each.places)) for each in rank_findings(REPORT)]

    assert ranked == [
        ("CRASHED", Harm.CRASH, False, 1),
        ("LEAK", Harm.EXPOSURE, False, 2),
        ("SHARED", Harm.DROP, True, 1),
        ("PARITY_ONLY", Harm.PARITY, False, 1),
    ]


def test_without_a_framework_everything_is_the_servers_own() -> None:
    assert not any(each.is_shared for each in rank_findings(replace(REPORT, framework=None)))


def test_ids_name_probe_place_and_variant_and_nothing_that_changes_between_runs() -> None:
    ids = [place.id for each in rank_findings(REPORT) for place in each.places]

    assert ids == [
        "CRASHED@stdio/modern",
        f"LEAK:tool {HOSTILE}@stdio/modern",
        "LEAK:tool b@stdio/modern",
        "SHARED@stdio/modern",
        "PARITY_ONLY@stdio/modern~http/modern",
    ]
