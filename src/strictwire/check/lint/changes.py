"""Rules about a commit (clause G16): a changed schema comes with a contract document entry and a test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Final

from strictwire.check.rule import Category, Rule, Scope, rule
from strictwire.check.subject import Problem, SourceLocation


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The difference to a commit, as paths in the repository."""

    tools: tuple[tuple[str, str], ...]
    """Each tool whose schema changed, with its file."""
    touched: frozenset[str]
    """Every file that changed."""
    contract_documents: tuple[str, ...] = ("docs/CONTRACT.md", "CONTRACT.md")
    test_patterns: tuple[str, ...] = ("tests/*", "test/*", "*/tests/*", "*_test.*", "*.test.*", "*.spec.*")
    contract_text: str = ""
    """The contract document after the change."""


@rule(
    id="CHANGE_IN_CONTRACT",
    purpose="Checks that a commit that changes a schema also changes the contract document, and that it names the tool.",
    advice="Describe in docs/CONTRACT.md what changes for callers.",
    category=Category.STRICT,
    scope=Scope.CHANGE,
    bad="the commit changes only schemas/tools/read.json",
    good="the commit changes schemas/tools/read.json, docs/CONTRACT.md and tests/test_read.py",
)
def change_in_contract(change: Change) -> Iterator[Problem]:
    is_touched = any(path in change.touched for path in change.contract_documents)
    for tool, file in change.tools:
        if not is_touched:
            yield Problem(SourceLocation(file), "the schema changed but the contract document did not", tool)
        elif tool not in change.contract_text:
            yield Problem(SourceLocation(file), f"the contract document does not name the tool {tool!r}", tool)


@rule(
    id="CHANGE_TESTED",
    purpose="Checks that a commit that changes a schema also changes at least one test.",
    advice="Add a test: tools/list shows the schema, invalid arguments are refused, results conform.",
    category=Category.STRICT,
    scope=Scope.CHANGE,
    bad="the commit changes schemas/tools/read.json and docs/CONTRACT.md",
    good="the commit changes schemas/tools/read.json, docs/CONTRACT.md and tests/test_read.py",
)
def change_tested(change: Change) -> Iterator[Problem]:
    if any(fnmatch(path, pattern) for path in change.touched for pattern in change.test_patterns):
        return
    for tool, file in change.tools:
        yield Problem(SourceLocation(file), "the schema changed but no test did", tool)


RULES: Final[tuple[Rule, ...]] = (change_in_contract, change_tested)
