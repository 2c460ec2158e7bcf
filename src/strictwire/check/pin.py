"""Whether tools are those that were pinned, by fingerprint alone. `breaking` says what a difference means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from strictwire.check.engine import Places, find_places, flaw_findings
from strictwire.check.finding import Finding, Report
from strictwire.check.subject import Problem, Subject, ToolSet
from strictwire.contract.fingerprint import Aspect, Fingerprint, fingerprint

_ADVICE = "See what it means with `strictwire breaking --against strictwire.lock`, then pin again."


def check_pins(pins: Mapping[str, Fingerprint], tools: ToolSet, *, against: str) -> Report:
    """One finding for each tool that is new or gone, and for each aspect that differs."""
    now = tools.by_name()
    told = [each for name, subject in now.items() for each in _differences(subject, pins.get(name))]
    places = find_places(tools, (problem.origin for _, problem in told))
    findings = [*flaw_findings(tools), *(_finding(rule, problem, places) for rule, problem in told)]
    gone = "the pinned tool is gone"
    findings += [
        Finding(rule="PIN_TOOL_PRESENT", message=gone, advice=_ADVICE, tool=name) for name in pins.keys() - now.keys()
    ]
    findings.sort(key=lambda each: (each.tool, each.rule))
    return Report(check="pin", subject=tools.label, tools=len(tools.subjects), findings=tuple(findings), against=against)


def _differences(subject: Subject, pin: Fingerprint | None) -> Iterator[tuple[str, Problem]]:
    name = subject.contract.name
    if pin is None:
        yield "PIN_TOOL_KNOWN", Problem(subject.entry, "the tool is not pinned", name)
        return
    origins = {Aspect.INPUT: subject.input, Aspect.OUTPUT: subject.output}
    for aspect in sorted(fingerprint(subject.contract).changed_from(pin)):
        message = f"the {aspect.value} is not the one that was pinned"
        yield f"PIN_{aspect.name}", Problem(origins.get(aspect, subject.entry), message, name)


def _finding(rule: str, problem: Problem, places: Places) -> Finding:
    line, column = places[problem.origin]
    return Finding(
        rule=rule,
        message=problem.message,
        advice=_ADVICE,
        file=problem.origin.file,
        pointer=problem.origin.pointer,
        line=line,
        column=column,
        tool=problem.tool,
    )
