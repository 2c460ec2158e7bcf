"""The official suite passes whole, and our reading of its summary can tell when it does not."""

from __future__ import annotations

import pytest

from tests.interop.conformance import (
    CLIENT_SCENARIOS,
    SCORED,
    TARGETS,
    Verdict,
    find_missing,
    judge,
    judge_client,
    read_verdict,
)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_every_scored_scenario_passes(target: str) -> None:
    with TARGETS[target]() as url:
        for revision, count in SCORED.items():
            verdict, output = judge(url, revision)

            assert find_missing(target, verdict) == [], output
            assert verdict.line == f"{revision}: {count}/{count}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("revision", "scenario"), [(revision, each) for revision, listed in CLIENT_SCENARIOS.items() for each in listed]
)
def test_every_scenario_for_clients_passes(revision: str, scenario: str) -> None:
    passed, output = judge_client(scenario, revision)

    assert passed, output


SUMMARY = """
=== SUMMARY ===
✓ ping: 2 passed, 0 failed
✗ tools-list: 1 passed, 2 failed
✓ json-schema-2020-12: 8 passed, 0 failed

Not scored for 2025-11-25: 2 scenario(s) run, 0 failing. These do not affect conformance.
  ✓ json-schema-2020-12 (pending)
"""


def test_a_failed_or_absent_scenario_is_told() -> None:
    verdict = read_verdict("2025-11-25", SUMMARY)

    assert verdict == Verdict(
        revision="2025-11-25",
        passed=frozenset({"ping", "json-schema-2020-12"}),
        failed=frozenset({"tools-list"}),
        unscored=frozenset({"json-schema-2020-12"}),
    )
    assert verdict.line == "2025-11-25: 1/30"
    assert verdict.missing == [
        "server-session-lifecycle",
        "server-sse-polling",
        "tools-list",
        "only 1 scored scenarios passed",
    ]
