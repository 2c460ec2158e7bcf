"""A report as a table and as JSON."""

from __future__ import annotations

from strictwire.probe.record import (
    HTTP_MODERN,
    STDIO_LEGACY,
    STDIO_MODERN,
    Description,
    Difference,
    ProbeReport,
    ProbeResult,
    Status,
)
from strictwire.probe.render import render_json, render_table

REPORT = ProbeReport(
    target={"stdio": ["server"], "http": "http://127.0.0.1/mcp"},
    variants=(STDIO_MODERN, HTTP_MODERN),
    closed={STDIO_LEGACY: "not spoken"},
    probes=(Description(id="A_PROBE", purpose="Checks that a.", expected="b", why="c"),),
    results=(
        ProbeResult(probe="A_PROBE", variant=STDIO_MODERN, status=Status.FINDING, got="silence"),
        ProbeResult(probe="A_PROBE", variant=HTTP_MODERN, status=Status.NOT_APPLICABLE, got="only over stdio"),
    ),
    differences=(
        Difference(
            probe="A_PROBE",
            left=STDIO_MODERN,
            right=HTTP_MODERN,
            what="outcome",
            got_left="silence",
            got_right="error",
        ),
    ),
    seconds=1.25,
)

TABLE = """\
PROBE    stdio/modern  http/modern
A_PROBE  FINDING       -

FINDINGS
A_PROBE: Checks that a.
  expected: b
  why:      c
  got:      silence [stdio/modern]

DIFFERENCES (same request, different responses)
A_PROBE: outcome
  stdio/modern: silence
  http/modern: error

NOT TESTED (a skip is not a pass)
  stdio/legacy, all probes: not spoken
  http/modern, only over stdio: A_PROBE

1 findings, 1 differences, 0 passed, 1 not applicable, 1.2 s"""


def test_the_table_shows_findings_differences_and_skips() -> None:
    assert render_table(REPORT) == TABLE


def test_the_json_contains_the_whole_report() -> None:
    assert render_json(REPORT) == {
        "version": 1,
        "target": {"stdio": ["server"], "http": "http://127.0.0.1/mcp"},
        "lanes": ["stdio/modern", "http/modern"],
        "closedLanes": {"stdio/legacy": "not spoken"},
        "clean": False,
        "seconds": 1.25,
        "probes": [
            {
                "id": "A_PROBE",
                "purpose": "Checks that a.",
                "expected": "b",
                "why": "c",
                "verdicts": [
                    {"lane": "stdio/modern", "status": "finding", "got": "silence"},
                    {"lane": "http/modern", "status": "not applicable", "got": "only over stdio"},
                ],
            }
        ],
        "differences": [
            {
                "probe": "A_PROBE",
                "what": "outcome",
                "left": {"lane": "stdio/modern", "got": "silence"},
                "right": {"lane": "http/modern", "got": "error"},
            }
        ],
    }
