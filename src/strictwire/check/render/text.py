"""A report for people: grouped by file, with location, rule, message and advice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType
from typing import Final

from strictwire.check.finding import Finding, Impact, Level, Place, Report
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


MAX_PLACES: Final = 20
"""Places of one finding that a report for people names. JSON, SARIF and Code Climate have all of them."""


def render_text(*reports: Report) -> str:
    """Plain text, for files and pipes."""
    return "".join(f"{line}\n" for report in reports for line in _lines(report, _PLAIN))


def render_colour(*reports: Report) -> str:
    """Text with ANSI colours, for a terminal."""
    return "".join(f"{line}\n" for report in reports for line in _lines(report, _ANSI))


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
    if finding.also:
        yield f"      {ink.faint}also at: {for_terminal(other_places(finding))}{ink.end}"


def evidence_of(finding: Finding) -> Iterator[tuple[str, str]]:
    """What shows a finding, each with its label: text or schema, old and new, and the witness."""
    if finding.excerpt:
        yield "here", finding.excerpt
    if finding.old or finding.new:
        yield "old", finding.old or "(none)"
        yield "new", finding.new or "(none)"
    if finding.witness:
        yield "for example", finding.witness


def other_places(finding: Finding) -> str:
    """The further places of a finding in one line; empty if there are none. Tools with the same place share its name."""
    places: dict[str, list[str]] = {}
    for place in finding.also[:MAX_PLACES]:
        inside = _IN_LISTING.sub("", place.pointer)
        places.setdefault(place.location if place.line else inside, []).append(place.tool)
    shown = "; ".join(_named(*each) for each in places.items())
    rest = len(finding.also) - MAX_PLACES
    return f"{shown} and {rest:,} more (--format json lists all)" if rest > 0 else shown


_IN_LISTING: Final = re.compile(r"^/(?:tools/)?[0-9]+/")
"""The part of a pointer that only says which tool of a listing it is in."""


def _named(place: str, tools: list[str]) -> str:
    names = ", ".join(filter(None, tools))
    return f"{place} of {names}" if names else place


def place_label(place: Place) -> str:
    """`file:line:column`, or the tool and the pointer if the source is not a file."""
    return place.location if place.line else f"{place.tool} {place.pointer}".strip() or place.file


def is_in_file(place: Place) -> bool:
    """Whether the place is in a file, and not in the list of a running server, whose `file` is its command or URL."""
    return bool(place.file) and (place.line > 0 or not place.pointer.startswith("/tools"))


def shorten(text: str) -> str:
    """The text, truncated to what a report for people shows of one value."""
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"


def _summary(report: Report, ink: _Palette) -> str:
    against = f" against {for_terminal(report.against)}" if report.against else ""
    colour = ink.bad if report.failing else ink.strong
    first, *others = tally(report)
    judged = f"{count(report.tools, report.unit)} of {for_terminal(report.subject)}"
    return f"{report.check}: {', '.join([f'{colour}{first}{ink.end}', *others])} in {judged}{against}"


def tally(report: Report) -> list[str]:
    """The counts of a report: findings that fail the check first, then those that do not, by level."""
    failing = len(report.failing)
    others = Counter(each.level for each in report.findings if not report.fails(each))
    places = sum(len(each.places) for each in report.failing)
    parts = [count(failing, "finding") + (f" at {places:,} places" if places > failing else "")]
    parts += [count(others[level], level.value) for level in Level if others[level]]
    parts += [f"{len(report.waived)} waived"] if report.waived else []
    parts += [f"{len(report.known)} in the baseline"] if report.known else []
    return parts


def count(number: int, noun: str) -> str:
    """`1 tool`, `2 tools`."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
