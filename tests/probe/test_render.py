"""A report as text and as JSON."""

from __future__ import annotations

from dataclasses import replace

from tests.probe.reports import HOSTILE, REPORT

from strictwire.probe.compare import compare
from strictwire.probe.harm import Harm
from strictwire.probe.render import render_json, render_text

SHOWN = "tool </code><script>alert(1)</script>\\u001b[31m\\u202e"

TEXT = f"""\
stdio: server
http: http://127.0.0.1/mcp
framework: FastMCP 4 (40 of 41)

CRASH: The process ends, or stops responding to valid requests.
  CRASHED: Checks that crashed.
    expected: b
    why:      c
    got:      connection closed (the process ended with exit code 1) [stdio/modern]
    sent:     {{"a":"\\xff"}}
    stderr:   Traceback
    stderr:   KeyError: 1

EXPOSURE: A response reveals internals or secrets, or a web page can reach the server.
  LEAK: Checks that leak.
    expected: b
    why:      c
    got:      {SHOWN}: '/etc/x' [stdio/modern]
    got:      tool b: '/etc/y' [stdio/modern]

PARITY: Transports or protocol eras respond differently to the same request.
  PARITY_ONLY: Checks that parity_only.
    expected: b
    why:      c
    got:      code differs: error -1 | error -2 [stdio/modern and http/modern]

FROM THE FRAMEWORK: FastMCP 4, 1 finding
  drop       SHARED  silence [stdio/modern]

NOT TESTED (a skip is not a pass)
  stdio/legacy, all probes: not spoken
  http/modern, only over stdio: SHARED
  stdio/modern, not run: the time budget was used up: LATE
  not called, it is not declared read-only; --call-anything calls it: send_money

3 findings of the server (1 crash, 1 exposure, 1 parity), 1 of its framework, 5 passed, 1 not applicable, 1 not run, \
1.2 s, seed 7"""


def test_the_text_shows_the_worst_first_then_the_framework_then_what_was_not_tested() -> None:
    assert render_text(REPORT) == TEXT


def test_without_a_framework_the_text_says_so() -> None:
    assert "framework: not recognised; all findings count as the server's own" in render_text(
        replace(REPORT, framework=None)
    )


def test_a_comparison_marks_what_is_new_and_lists_what_is_gone() -> None:
    saved = {"LEAK:tool b@stdio/modern": Harm.EXPOSURE, "LEAK@http/modern": Harm.EXPOSURE, "LATE@stdio/modern": Harm.DROP}
    text = render_text(REPORT, compare(REPORT, saved))

    assert "  CRASHED (NEW): Checks that crashed." in text
    assert (
        "SINCE THE SAVED RUN: 4 new, 1 unchanged\n  gone: LEAK@http/modern\n  not checked again: LATE@stdio/modern" in text
    )


def test_the_json_contains_the_whole_report() -> None:
    value = render_json(REPORT, compare(REPORT, {}))

    assert value["findings"] == [
        {
            "id": "CRASHED@stdio/modern",
            "probe": "CRASHED",
            "harm": "crash",
            "origin": "server",
            "where": "stdio/modern",
            "got": "connection closed (the process ended with exit code 1)",
            "sent": '{"a":"\\xff"}',
            "stderr": "Traceback\nKeyError: 1",
        },
        {
            "id": f"LEAK:tool {HOSTILE}@stdio/modern",
            "probe": "LEAK",
            "harm": "exposure",
            "origin": "server",
            "where": "stdio/modern",
            "got": "'/etc/x'",
            "subject": f"tool {HOSTILE}",
        },
        {
            "id": "LEAK:tool b@stdio/modern",
            "probe": "LEAK",
            "harm": "exposure",
            "origin": "server",
            "where": "stdio/modern",
            "got": "'/etc/y'",
            "subject": "tool b",
        },
        {
            "id": "SHARED@stdio/modern",
            "probe": "SHARED",
            "harm": "drop",
            "origin": "framework",
            "where": "stdio/modern",
            "got": "silence",
        },
        {
            "id": "PARITY_ONLY@stdio/modern~http/modern",
            "probe": "PARITY_ONLY",
            "harm": "parity",
            "origin": "server",
            "where": "stdio/modern and http/modern",
            "got": "code differs: error -1 | error -2",
        },
    ]
    assert value["probes"][0] == {
        "id": "SHARED",
        "purpose": "Checks that shared.",
        "expected": "b",
        "why": "c",
        "verdicts": [
            {"lane": "stdio/modern", "status": "finding", "got": "silence"},
            {"lane": "http/modern", "status": "not applicable", "got": "only over stdio"},
        ],
    }
    assert [each["probe"] for each in value["differences"]] == ["PARITY_ONLY", "CRASHED"]
    assert value["differences"][0]["right"] == {"lane": "http/modern", "got": "error -2"}
    assert value["comparison"] == {
        "new": sorted(each["id"] for each in value["findings"]),
        "unchanged": [],
        "gone": [],
        "unchecked": [],
    }
    assert {name: value[name] for name in ("version", "lanes", "closedLanes", "clean", "complete", "seconds", "seed")} == {
        "version": 1,
        "lanes": ["stdio/modern", "http/modern"],
        "closedLanes": {"stdio/legacy": "not spoken"},
        "clean": False,
        "complete": False,
        "seconds": 1.25,
        "seed": 7,
    }
    assert value["target"] == {"stdio": "server", "http": "http://127.0.0.1/mcp"}
    assert value["framework"] == {"name": "FastMCP 4", "evidence": ["40 of 41"]}
    assert value["uncalledTools"] == {"send_money": "it is not declared read-only; --call-anything calls it"}
