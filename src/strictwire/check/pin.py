"""Whether tools are those that were pinned, by fingerprint alone. `breaking` says what a difference means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from strictwire.check.engine import Places, flaw_findings
from strictwire.check.finding import Finding, Report
from strictwire.check.subject import Origin, Subject, ToolSet
from strictwire.contract.fingerprint import Aspect, Fingerprint, fingerprint

_ADVICE = "See what it means with `strictwire breaking --against strictwire.lock`, then pin again."


def check_pins(pins: Mapping[str, Fingerprint], tools: ToolSet, *, against: str) -> Report:
    """One finding for each tool that is new or gone, and for each aspect that differs."""
    now = tools.by_name()
    places = Places(tools)
    findings = [*flaw_findings(tools)]
    for name, subject in now.items():
        findings += _differences(subject, pins.get(name), places)
    for name in pins.keys() - now.keys():
        findings.append(Finding(rule="PIN_TOOL_PRESENT", message="the pinned tool is gone", advice=_ADVICE, tool=name))
    findings.sort(key=lambda each: (each.tool, each.rule))
    return Report(check="pin", subject=tools.label, tools=len(tools.subjects), findings=tuple(findings), against=against)


def _differences(subject: Subject, pin: Fingerprint | None, places: Places) -> Iterator[Finding]:
    if pin is None:
        yield _finding("PIN_TOOL_KNOWN", "the tool is not pinned", subject.entry, subject, places)
        return
    origins = {Aspect.INPUT: subject.input, Aspect.OUTPUT: subject.output}
    for aspect in sorted(fingerprint(subject.contract).changed_from(pin)):
        message = f"the {aspect.value} is not the one that was pinned"
        yield _finding(f"PIN_{aspect.name}", message, origins.get(aspect, subject.entry), subject, places)


def _finding(rule: str, message: str, origin: Origin, subject: Subject, places: Places) -> Finding:
    line, column = places.of(origin)
    return Finding(
        rule=rule,
        message=message,
        advice=_ADVICE,
        file=origin.file,
        pointer=origin.pointer,
        line=line,
        column=column,
        tool=subject.contract.name,
    )
