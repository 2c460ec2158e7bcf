"""Compares tools with their pins by fingerprint. Says that a tool changed; `breaking` says what the change means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from strictwire.check.engine import find_locations, locate_finding, read_problem_findings
from strictwire.check.finding import Finding, Report
from strictwire.check.subject import Problem, Subject, ToolSet
from strictwire.contract.fingerprint import Aspect, Fingerprint, fingerprint


def check_pins(pins: Mapping[str, Fingerprint], tools: ToolSet, *, against: str) -> Report:
    """One finding for each new tool, each missing tool and each aspect of a tool that differs from its pin."""
    advice = f"Review the change with `strictwire breaking --against {against}`, then pin again with `--lock {against}`."
    current = tools.by_name()
    differences = [each for name, subject in current.items() for each in _differences(subject, pins.get(name))]
    locations = find_locations(tools, (problem.origin for _, problem in differences))
    findings = [*read_problem_findings(tools)]
    findings += [locate_finding(problem, locations, rule=rule, advice=advice) for rule, problem in differences]
    findings += [
        Finding(rule="PIN_TOOL_PRESENT", message="the pinned tool is missing", advice=advice, tool=name)
        for name in pins.keys() - current.keys()
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
        message = f"the {aspect.value} differs from the pin"
        yield f"PIN_{aspect.name}", Problem(origins.get(aspect, subject.entry), message, name)
