"""Severities, waivers, limits and the baseline: what they say, and how mistakes in them are told."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from strictwire.check.finding import Finding, Level
from strictwire.check.policy import PolicyRefused
from strictwire.packs.unity.check.baseline import fingerprint, parse_baseline, render_baseline, split_known
from strictwire.packs.unity.check.policy import CheckPolicy, UnityWaiver, parse_check_policy
from strictwire.packs.unity.check.rules import RULES
from strictwire.packs.unity.check.run import make_unity_report

FINDING = Finding(
    rule="SCRIPT_EXISTS",
    message="gone",
    advice="Restore it.",
    file="Assets/A.unity",
    pointer="Player:m_Script",
    line=5,
    severity=Level.ERROR,
)


def test_every_rule_says_what_it_checks_and_what_to_do() -> None:
    for name, rule in RULES.items():
        assert (rule.id, rule.purpose[:12], rule.purpose[-1], rule.advice[-1]) == (name, "Checks that ", ".", ".")


def test_a_policy_is_read_from_its_table() -> None:
    policy = parse_check_policy(
        {
            "severity": {"LFS_FETCHED": "off", "ASSET_SIZE": "error", "REFERENCE_VERIFIABLE": "note"},
            "waivers": [{"rule": "GUID_UNIQUE", "path": "Assets/Plugins/*", "reason": "vendored twice"}],
            "max_bytes": {"Texture": 1000},
            "fail_on": "warning",
            "baseline": "unity.json",
        }
    )

    assert [policy.severity_of(name) for name in ("LFS_FETCHED", "ASSET_SIZE", "REFERENCE_VERIFIABLE", "SCRIPT_EXISTS")] == [
        None,
        Level.ERROR,
        Level.NOTE,
        Level.ERROR,
    ]
    assert policy.waivers == (UnityWaiver(rule="GUID_UNIQUE", path="Assets/Plugins/*", reason="vendored twice"),)
    assert (policy.limits.max_bytes_of("Texture"), policy.limits.max_bytes_of("Scene")) == (1000, 50_000_000)
    assert (policy.fail_on, policy.baseline) == (Level.WARNING, "unity.json")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"severety": {}}, "unknown key 'severety'"),
        ({"severity": {"NO_SUCH": "error"}}, "there is no rule 'NO_SUCH'"),
        ({"severity": {"LFS_FETCHED": "fatal"}}, "unknown severity 'fatal'"),
        ({"severity": []}, "`severity` is a table"),
        ({"waivers": {}}, "`waivers` is a list"),
        ({"waivers": [{"rule": "GUID_UNIQUE"}]}, "needs a `rule` and a `reason`"),
        ({"waivers": [{"rule": "GUID_UNIQUE", "reason": " "}]}, "a waiver is a table"),
        ({"waivers": [{"rule": "GUID_UNIQUE", "reason": "x", "tool": "y"}]}, "unknown key 'tool'"),
        ({"max_bytes": {"*": 0}}, "`max_bytes` maps"),
        ({"max_bytes": {"Textures": 5}}, "unknown key 'Textures' in `max_bytes`"),
        ({"fail_on": 3}, "unknown severity 3"),
        ({"baseline": 3}, "`baseline` is a path"),
    ],
)
def test_a_policy_that_cannot_be_meant_is_refused(table: dict[str, object], message: str) -> None:
    with pytest.raises(PolicyRefused, match=message):
        parse_check_policy(table)


def test_a_fingerprint_ignores_lines_and_words() -> None:
    moved = replace(FINDING, line=99, message="said otherwise")

    assert fingerprint(moved) == fingerprint(FINDING)
    assert fingerprint(replace(FINDING, pointer="Enemy:m_Script")) != fingerprint(FINDING)


def test_a_baseline_round_trips_and_counts() -> None:
    other = replace(FINDING, rule="GUID_UNIQUE")
    raw = render_baseline([FINDING, other, FINDING])

    assert parse_baseline(raw) == Counter({fingerprint(FINDING): 2, fingerprint(other): 1})
    assert split_known([FINDING, FINDING, FINDING], parse_baseline(raw)) == ([FINDING], [FINDING, FINDING], 1)


@pytest.mark.parametrize(
    "raw", [b"", b"{}", b"[]", b'{"version":2,"findings":[]}', b'{"version":1,"findings":[{}]}', b"\xff"]
)
def test_a_file_that_is_no_baseline_is_refused(raw: bytes) -> None:
    with pytest.raises(PolicyRefused, match="write it again with --write-baseline"):
        parse_baseline(raw)


def test_waived_and_known_findings_do_not_fail_and_a_stale_waiver_is_told() -> None:
    policy = CheckPolicy(
        waivers=(
            UnityWaiver(rule="SCRIPT_EXISTS", path="Assets/Old/*", reason="kept for reference"),
            UnityWaiver(rule="LFS_FETCHED", reason="never needed"),
        )
    )
    waived, known = replace(FINDING, file="Assets/Old/B.unity"), replace(FINDING, file="Assets/C.unity")
    report = make_unity_report(
        [FINDING, waived, known],
        policy,
        subject="Game",
        assets=3,
        notes=["a note"],
        baseline=Counter({fingerprint(known): 1, "gone": 1}),
    )

    assert report.failing == (FINDING,)
    assert [(each.rule, each.level) for each in report.findings] == [
        ("WAIVER_USED", Level.WARNING),
        ("SCRIPT_EXISTS", Level.ERROR),
    ]
    assert [each.finding for each in report.waived] == [waived]
    assert report.known == (known,)
    assert report.notes == ("a note", "1 findings of the baseline no longer occur; update it with --write-baseline")
