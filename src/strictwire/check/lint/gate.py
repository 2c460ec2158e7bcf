"""The change gate (G16): a changed schema comes with its contract row and a test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Final

from strictwire.check.rule import Category, Rule, Scope, rule
from strictwire.check.subject import Origin, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What one change touches, as paths in the repository."""

    tools: tuple[tuple[str, str], ...]
    """Each tool whose schema differs, with its file."""
    touched: frozenset[str]
    contract_documents: tuple[str, ...] = ("docs/CONTRACT.md", "CONTRACT.md")
    test_patterns: tuple[str, ...] = ("tests/*", "test/*", "*/tests/*", "*_test.*", "*.test.*", "*.spec.*")
    contract_text: str = ""
    """The contract document as it is after the change."""


@rule(
    id="CHANGE_IN_CONTRACT",
    purpose="Checks that a change of a schema also changes the contract document, and that the document names the tool.",
    advice="Write down in docs/CONTRACT.md what changes for callers.",
    category=Category.STRICT,
    scope=Scope.CHANGE,
    bad="the change touches schemas/tools/read.json alone",
    good="the change touches schemas/tools/read.json, docs/CONTRACT.md and tests/test_read.py",
)
def change_in_contract(change: Change) -> Iterator[Problem]:
    is_touched = any(path in change.touched for path in change.contract_documents)
    for tool, file in change.tools:
        if not is_touched:
            yield Problem(Origin(file), "the schema changed and the contract document did not", tool)
        elif tool not in change.contract_text:
            yield Problem(Origin(file), f"the contract document does not name the tool {tool!r}", tool)


@rule(
    id="CHANGE_TESTED",
    purpose="Checks that a change of a schema also changes at least one test.",
    advice="Add a test: the listing shows the schema, wrong arguments are refused, results conform.",
    category=Category.STRICT,
    scope=Scope.CHANGE,
    bad="the change touches schemas/tools/read.json and docs/CONTRACT.md",
    good="the change touches schemas/tools/read.json, docs/CONTRACT.md and tests/test_read.py",
)
def change_tested(change: Change) -> Iterator[Problem]:
    if any(fnmatch(path, pattern) for path in change.touched for pattern in change.test_patterns):
        return
    for tool, file in change.tools:
        yield Problem(Origin(file), "the schema changed and no test did", tool)


RULES: Final[tuple[Rule, ...]] = (change_in_contract, change_tested)
