"""Records of the findings that no rule function makes: waivers that match nothing, and tools that differ from their pins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from strictwire.check.rule import Category, Rule, Scope
from strictwire.check.subject import Problem

_PIN_ADVICE: Final = "Review the change with `strictwire breaking --against strictwire.lock`, then run `strictwire pin`."


def _never(_tools: object) -> Iterator[Problem]:
    return iter(())


def _record(id_: str, purpose: str, advice: str, bad: str, good: str) -> Rule:
    return Rule(
        id=id_,
        purpose=purpose,
        advice=advice,
        category=Category.MINIMAL,
        scope=Scope.SOURCE,
        check=_never,
        bad=bad,
        good=good,
    )


def _pin(id_: str, what: str) -> Rule:
    purpose = f"Checks that the {what} of every tool equal the pinned ones."
    return _record(id_, purpose, _PIN_ADVICE, f"{what} changed after `strictwire pin`", f"{what} as pinned")


REPORTED: Final[tuple[Rule, ...]] = (
    _record(
        "WAIVER_USED",
        "Checks that every waiver of a rule that ran matches a finding.",
        "Delete the waiver, so that it cannot hide a later finding.",
        'a waiver of NO_DEFAULT, and no schema with "default"',
        "no waiver",
    ),
    _record(
        "PIN_TOOL_KNOWN", "Checks that every tool is pinned.", _PIN_ADVICE, "a tool that is not in strictwire.lock", "-"
    ),
    _record("PIN_TOOL_PRESENT", "Checks that every pinned tool exists.", _PIN_ADVICE, "a pinned tool that is gone", "-"),
    _pin("PIN_INPUT", "input schemas"),
    _pin("PIN_OUTPUT", "output schemas"),
    _pin("PIN_DESCRIPTION", "titles, descriptions and other texts"),
    _pin("PIN_ANNOTATIONS", "annotations"),
)
