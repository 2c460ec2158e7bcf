"""A report for people: grouped by file, with location, rule, message and advice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType
from typing import Final

from strictwire.check.finding import Finding, Impact, Level, Report
from strictwire.fault.escape import for_terminal


@dataclass(frozen=True, slots=True, kw_only=True)
class _Palette:
    strong: str = ""
    bad: str = ""
    note: str = ""
    faint: str = ""
    end: str = ""


_PLAIN: Final = _Palette()
_ANSI: Final = _Palette(strong="\x1b[1m", bad="\x1b[31m", note="\x1b[33m", faint="\x1b[2m", end="\x1b[0m")


IMPACT_LABELS: Final[Mapping[Impact, str]] = MappingProxyType(
    {
        Impact.CALLER: "breaks callers",
        Impact.READER: "breaks readers",
        Impact.MODEL: "changes what models read",
        Impact.ADDITIVE: "compatible",
        Impact.COSMETIC: "cosmetic",
    }
)
"""How reports for people name an impact."""


MAX_SHOWN: Final = 300
"""Longest evidence in a report for people, in characters. JSON and SARIF have all of it."""


def render_text(report: Report) -> str:
    """Plain text, for files and pipes."""
    return "\n".join(_lines(report, _PLAIN)) + "\n"


def render_colour(report: Report) -> str:
    """Text with ANSI colours, for a terminal."""
    return "\n".join(_lines(report, _ANSI)) + "\n"


def _lines(report: Report, ink: _Palette) -> Iterator[str]:
    for file, findings in groupby(report.findings, key=lambda each: each.file or report.subject):
        yield f"{ink.strong}{for_terminal(file)}{ink.end}"
        last = ""
        for finding in findings:
            yield from _finding(finding, ink)
            # Repeating the same advice under each of fifty findings would hide the findings.
            if finding.advice != last:
                yield f"      {ink.faint}{finding.advice}{ink.end}"
            last = finding.advice
        yield ""
    for note in report.notes:
        yield f"{ink.note}note:{ink.end} {for_terminal(note)}"
    yield _summary(report, ink)


def _finding(finding: Finding, ink: _Palette) -> Iterator[str]:
    colour = ink.bad if finding.level is Level.ERROR else ink.note
    pointer = for_terminal(finding.pointer) if finding.tool else ""
    location = f"{finding.line}:{finding.column}" if finding.line else pointer or "-"
    severity = f"{finding.severity.value} " if finding.severity else ""
    tool = f"{for_terminal(finding.tool)}: " if finding.tool else ""
    impact = f" ({IMPACT_LABELS[finding.impact]})" if finding.impact else ""
    yield f"  {location}  {colour}{severity}{finding.rule}{ink.end}  {tool}{for_terminal(finding.message)}{impact}"
    for label, text in evidence_of(finding):
        yield f"      {ink.faint}{label}: {shorten(for_terminal(text))}{ink.end}"


def evidence_of(finding: Finding) -> Iterator[tuple[str, str]]:
    """What shows a finding, each with its label: the old and the new text or schema, and the witness."""
    if finding.old or finding.new:
        yield "old", finding.old or "(none)"
        yield "new", finding.new or "(none)"
    if finding.witness:
        yield "for example", finding.witness


def shorten(text: str) -> str:
    """The text, truncated to what a report for people shows of one value."""
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"


def _summary(report: Report, ink: _Palette) -> str:
    failing = len(report.failing)
    others = Counter(each.level for each in report.findings if not report.fails(each))
    against = f" against {for_terminal(report.against)}" if report.against else ""
    colour = ink.bad if failing else ink.strong
    parts = [f"{colour}{count(failing, 'finding')}{ink.end}"]
    parts += [count(others[level], level.value) for level in Level if others[level]]
    parts += [f"{len(report.waived)} waived"] if report.waived else []
    parts += [f"{len(report.known)} in the baseline"] if report.known else []
    judged = f"{count(report.tools, report.unit)} of {for_terminal(report.subject)}"
    return f"{report.check}: {', '.join(parts)} in {judged}{against}"


def count(number: int, noun: str) -> str:
    """`1 tool`, `2 tools`."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
