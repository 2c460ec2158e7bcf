"""Compares tools with their pins. Shows what changed, old and new; `breaking` says what the change means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from strictwire.canon.json import JsonValue
from strictwire.check.finding import Finding, Report
from strictwire.check.inclusion.shape import canonical_text
from strictwire.check.report import find_locations, locate_finding, purposes_of, read_problem_findings
from strictwire.check.subject import Problem, Subject, ToolSet
from strictwire.contract.fingerprint import Aspect, fingerprint, texts_of
from strictwire.contract.subschemas import strip_text
from strictwire.contract.tool import ToolContract

_MISSING: Final = object()


def check_pins(pinned: Mapping[str, ToolContract], tools: ToolSet, *, against: str) -> Report:
    """One finding for each new tool, each missing tool and each aspect of a tool that differs from its pin."""
    advice = (
        f"Review the change: run `strictwire breaking` with the same source and `--against {against}`. "
        f"To accept it, run `strictwire pin` with the same source and `--lock {against}`."
    )
    current = tools.by_name()
    differences = [each for name, subject in current.items() for each in _differences(subject, pinned.get(name))]
    locations = find_locations(tools, (problem.origin for _, problem in differences))
    findings = [*read_problem_findings(tools)]
    findings += [locate_finding(problem, locations, rule=rule, advice=advice) for rule, problem in differences]
    findings += [
        Finding(rule="PIN_TOOL_PRESENT", message="the pinned tool is missing", advice=advice, tool=name)
        for name in pinned.keys() - current.keys()
    ]
    findings.sort(key=lambda each: (each.tool, each.rule))
    return Report(
        check="pin",
        subject=tools.label,
        tools=len(tools.subjects),
        findings=tuple(findings),
        against=against,
        purposes=purposes_of(()),
    )


def _differences(subject: Subject, pinned: ToolContract | None) -> Iterator[tuple[str, Problem]]:
    name = subject.contract.name
    if pinned is None:
        yield "PIN_TOOL_KNOWN", Problem(subject.entry, "the tool is not pinned", name)
        return
    for aspect in sorted(fingerprint(subject.contract).changed_from(fingerprint(pinned))):
        change = _narrow(_Change(old=_value(pinned, aspect), new=_value(subject.contract, aspect)))
        side = "".join(change.path).partition("/")[0] if aspect is Aspect.DESCRIPTION else aspect.value
        origin = {"input": subject.input, "output": subject.output}.get(side, subject.entry)
        problem = Problem(origin, _message(aspect, change), name, old=_text(change.old), new=_text(change.new))
        yield f"PIN_{aspect.name}", problem


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """A value before and after; `_MISSING` where there is none."""

    old: object
    new: object
    path: tuple[str, ...] = ()


def _value(tool: ToolContract, aspect: Aspect) -> object:
    """What the digest of an aspect covers."""
    if aspect is Aspect.DESCRIPTION:
        sides = texts_of(tool)
        flat = {f"{side}{at}": text for side in ("input", "output") for at, text in sides.pop(side, {}).items()}
        return {**sides, **flat}
    if aspect is Aspect.ANNOTATIONS:
        return dict(tool.annotations)
    schema = tool.input_schema if aspect is Aspect.INPUT else tool.output_schema
    return _MISSING if schema is None else strip_text(schema)


def _narrow(change: _Change) -> _Change:
    """The smallest part that contains every difference, without equal members: a whole schema would hide a small change."""
    old, new = change.old, change.new
    if not isinstance(old, dict) or not isinstance(new, dict):
        return change
    names = [name for name in sorted({*old, *new}) if _members(old, name) != _members(new, name)]
    if len(names) == 1:
        (name,) = names
        inner = _Change(old=old.get(name, _MISSING), new=new.get(name, _MISSING), path=(*change.path, name))
        return _narrow(inner)
    return replace(change, old=_only(old, names), new=_only(new, names))


def _members(value: dict[str, JsonValue], name: str) -> str:
    """A member as JSON that can be compared; `{}` if there is none."""
    return canonical_text(_only(value, [name]))


def _only(value: dict[str, JsonValue], names: list[str]) -> JsonValue:
    return {name: value[name] for name in names if name in value}


def _text(value: object) -> str:
    """A string as it is, other values as JSON; empty if there is none."""
    if value is _MISSING:
        return ""
    return value if isinstance(value, str) else canonical_text(value)


_NOUNS: Final[Mapping[Aspect, str]] = {
    Aspect.INPUT: "input schema",
    Aspect.OUTPUT: "output schema",
    Aspect.ANNOTATIONS: "set of annotations",
}


def _message(aspect: Aspect, change: _Change) -> str:
    verb = "was added after" if change.old is _MISSING else "was removed after" if change.new is _MISSING else "differs from"
    place = "/".join(change.path)
    if aspect is not Aspect.DESCRIPTION:
        return f"{place} of the {_NOUNS[aspect]} {verb} the pin" if place else f"the {_NOUNS[aspect]} {verb} the pin"
    if place in ("description", "title"):
        return f"the {place} of the tool {verb} the pin"
    return f"the text {place} {verb} the pin" if place else "several texts differ from the pin"
