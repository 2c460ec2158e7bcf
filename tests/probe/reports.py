"""A small report that the tests of rendering and comparing share."""

from __future__ import annotations

from strictwire.probe.harm import Harm
from strictwire.probe.record import (
    HTTP_MODERN,
    STDIO_LEGACY,
    STDIO_MODERN,
    Description,
    Difference,
    Fatal,
    Framework,
    ProbeReport,
    ProbeResult,
    Problem,
    Status,
)

HOSTILE = "</code><script>alert(1)</script>\x1b[31m\u202e"
"""A name with markup, a terminal escape and a bidirectional override."""


def _probe(id_: str) -> Description:
    return Description(id=id_, purpose=f"Checks that {id_.lower()}.", expected="b", why="c")


REPORT = ProbeReport(
    target={"stdio": "server", "http": "http://127.0.0.1/mcp"},
    variants=(STDIO_MODERN, HTTP_MODERN),
    closed={STDIO_LEGACY: "not spoken"},
    probes=tuple(map(_probe, ("SHARED", "LEAK", "CRASHED", "PARITY_ONLY", "LATE"))),
    results=(
        ProbeResult(probe="SHARED", variant=STDIO_MODERN, status=Status.FINDING, got="silence", harm=Harm.DROP),
        ProbeResult(probe="SHARED", variant=HTTP_MODERN, status=Status.NOT_APPLICABLE, got="only over stdio"),
        ProbeResult(
            probe="LEAK",
            variant=STDIO_MODERN,
            status=Status.FINDING,
            got="tool a: '/etc/x'; tool b: '/etc/y'",
            harm=Harm.EXPOSURE,
            problems=(
                Problem(subject=f"tool {HOSTILE}", got="'/etc/x'"),
                Problem(subject="tool b", got="'/etc/y'"),
            ),
        ),
        ProbeResult(probe="LEAK", variant=HTTP_MODERN, status=Status.PASS, got="2 responses checked"),
        ProbeResult(
            probe="CRASHED",
            variant=STDIO_MODERN,
            status=Status.FINDING,
            got="connection closed (the process ended with exit code 1)",
            harm=Harm.CRASH,
            fatal=Fatal(sent=b'{"a":"\xff"}', stderr="Traceback\nKeyError: 1"),
        ),
        ProbeResult(probe="CRASHED", variant=HTTP_MODERN, status=Status.PASS, got="error"),
        ProbeResult(probe="PARITY_ONLY", variant=STDIO_MODERN, status=Status.PASS, got="error -1"),
        ProbeResult(probe="PARITY_ONLY", variant=HTTP_MODERN, status=Status.PASS, got="error -2"),
        ProbeResult(probe="LATE", variant=STDIO_MODERN, status=Status.NOT_RUN, got="the time budget was used up"),
        ProbeResult(probe="LATE", variant=HTTP_MODERN, status=Status.PASS, got="error"),
    ),
    differences=(
        Difference(
            probe="PARITY_ONLY",
            left=STDIO_MODERN,
            right=HTTP_MODERN,
            what="code",
            got_left="error -1",
            got_right="error -2",
        ),
        Difference(
            probe="CRASHED", left=STDIO_MODERN, right=HTTP_MODERN, what="outcome", got_left="closed", got_right="error"
        ),
    ),
    seconds=1.25,
    seed=7,
    uncalled={"send_money": "it is not declared read-only; --call-anything calls it"},
    framework=Framework(
        name="FastMCP 4", evidence=("40 of 41",), shared=frozenset({"SHARED@stdio/modern", "X@stdio/modern"})
    ),
)
