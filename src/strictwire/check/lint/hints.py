"""Rules about annotations: the hints that a tool gives about its own behaviour."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from strictwire.check.rule import Category, Rule, Scope, rule
from strictwire.check.subject import Problem, Subject
from strictwire.contract.safety import Safety, safety_of

DESTRUCTIVE_VERBS: Final = frozenset({"delete", "remove", "drop", "destroy", "erase", "purge", "truncate", "wipe", "kill"})
CHANGING_VERBS: Final = DESTRUCTIVE_VERBS | {
    "create", "write", "update", "edit", "insert", "set", "put", "patch", "move", "rename", "upload", "send",
    "execute", "install", "push", "commit", "merge", "add", "save", "deploy", "publish", "apply",
}  # fmt: skip
VALUE_VERBS: Final = frozenset({"add", "merge", "apply", "set"})
"""Verbs that name a change only with an object: `add_note` changes something, but `add` adds numbers."""

_HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


def _leading_verb(name: str) -> str:
    """The first word of a name in lower case, after a prefix that ends in a dot or a slash; empty if it means no change."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", re.split(r"[./]", name)[-1])
    verb = words[0].lower() if words else ""
    return "" if len(words) == 1 and verb in VALUE_VERBS else verb


@rule(
    id="HINTS_AGREE_WITH_NAME",
    purpose="Checks that a tool named after a change or deletion is not marked read-only or non-destructive.",
    advice="Correct the hint or the name: clients run read-only tools without asking the user.",
    category=Category.BASIC,
    scope=Scope.TOOL,
    runs_on_invalid=True,
    bad='{"name": "delete_file", "annotations": {"readOnlyHint": true}}',
    good='{"name": "delete_file", "annotations": {"readOnlyHint": false, "destructiveHint": true}}',
)
def hints_agree_with_name(subject: Subject) -> Iterator[Problem]:
    verb, hints = _leading_verb(subject.contract.name), subject.contract.annotations
    if verb in CHANGING_VERBS and hints.get("readOnlyHint") is True:
        message = f"the name begins with {verb!r}, but readOnlyHint is true"
        yield Problem(subject.entry.under("annotations", "readOnlyHint"), message, subject.contract.name)
    if verb in DESTRUCTIVE_VERBS and hints.get("destructiveHint") is False and hints.get("readOnlyHint") is not True:
        message = f"the name begins with {verb!r}, but destructiveHint is false"
        yield Problem(subject.entry.under("annotations", "destructiveHint"), message, subject.contract.name)


@rule(
    id="HINTS_CONSISTENT",
    purpose="Checks that hints are booleans and do not contradict each other.",
    advice="Set each hint to true or false. A read-only tool is never destructive; leave destructiveHint out.",
    category=Category.BASIC,
    scope=Scope.TOOL,
    runs_on_invalid=True,
    bad='{"annotations": {"readOnlyHint": true, "destructiveHint": true}}',
    good='{"annotations": {"readOnlyHint": true}}',
)
def hints_consistent(subject: Subject) -> Iterator[Problem]:
    hints = subject.contract.annotations
    for name in _HINTS:
        if name in hints and not isinstance(hints[name], bool):
            message = f"the hint {name} is not a boolean"
            yield Problem(subject.entry.under("annotations", name), message, subject.contract.name)
    if hints.get("readOnlyHint") is True and hints.get("destructiveHint") is True:
        message = "readOnlyHint and destructiveHint are both true"
        yield Problem(subject.entry.under("annotations", "destructiveHint"), message, subject.contract.name)


@rule(
    id="HINTS_AGREE_WITH_SAFETY",
    purpose="Checks that the hints shown to clients agree with the safety level in the tool's contract.",
    advice="Correct the hint or the safety level: strictwire enforces the level, clients see the hint.",
    category=Category.STRICT,
    scope=Scope.TOOL,
    runs_on_invalid=True,
    bad='{"safety": "destructive", "annotations": {"readOnlyHint": true}}',
    good='{"safety": "destructive", "annotations": {"readOnlyHint": false, "destructiveHint": true}}',
)
def hints_agree_with_safety(subject: Subject) -> Iterator[Problem]:
    level, shown = subject.contract.safety, safety_of(subject.contract.annotations)
    if shown not in (level, Safety.UNDECLARED):
        message = f"the safety level is {level.value}, but the hints say {shown.value}"
        yield Problem(subject.entry.under("annotations", "readOnlyHint"), message, subject.contract.name)


RULES: Final[tuple[Rule, ...]] = (hints_agree_with_name, hints_consistent, hints_agree_with_safety)
