"""Rules about tool names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from strictwire.check.rule import Category, Rule, Scope, rule
from strictwire.check.subject import Problem, Subject, ToolSet

GRAMMAR: Final = re.compile(r"[A-Za-z0-9_./-]{1,128}")
"""The characters of the MCP specification, and `/`, which the official conformance suite also accepts."""

PORTABLE_LENGTH: Final = 64
"""The official conformance suite and the OpenAI and Gemini clients reject longer names."""

RESERVED_ENDINGS: Final = (".output", ".contract")
"""Suffixes of file names in the schema folder layout."""


@rule(
    id="NAME_GRAMMAR",
    purpose="Checks that a tool's name has 1 to 128 characters: letters, digits, `_`, `-`, `.` or `/`.",
    advice="Rename the tool; keep the old name as an alias for one release if callers use it.",
    category=Category.MINIMAL,
    scope=Scope.TOOL,
    runs_on_invalid=True,
    bad='{"name": "read file"}',
    good='{"name": "read_file"}',
)
def name_grammar(subject: Subject) -> Iterator[Problem]:
    name = subject.contract.name
    if not GRAMMAR.fullmatch(name):
        yield Problem(subject.entry.under("name"), f"{name[:64]!r} is not a valid tool name", name)


@rule(
    id="NAME_UNIQUE",
    purpose="Checks that no two tools of a server have the same name.",
    advice="Rename one of them: a client can call only one of two tools with the same name.",
    category=Category.MINIMAL,
    scope=Scope.SET,
    bad='[{"name": "read"}, {"name": "read"}]',
    good='[{"name": "read_file"}, {"name": "read_page"}]',
)
def name_unique(tools: ToolSet) -> Iterator[Problem]:
    counts = Counter(each.contract.name for each in tools.subjects)
    seen: set[str] = set()
    for subject in tools.subjects:
        name = subject.contract.name
        if counts[name] > 1 and name in seen:
            yield Problem(subject.entry.under("name"), f"an earlier tool has the same name {name!r}", name)
        seen.add(name)


@rule(
    id="NAME_LENGTH",
    purpose="Checks that a tool's name has at most 64 characters.",
    advice="Shorten the name, and leave room: gateways add a prefix.",
    category=Category.BASIC,
    scope=Scope.TOOL,
    runs_on_invalid=True,
    bad='{"name": "' + "a" * 65 + '"}',
    good='{"name": "read_file"}',
)
def name_length(subject: Subject) -> Iterator[Problem]:
    name = subject.contract.name
    if len(name) > PORTABLE_LENGTH:
        message = f"the name has {len(name)} characters; clients truncate or refuse more than {PORTABLE_LENGTH}"
        yield Problem(subject.entry.under("name"), message, name)


@rule(
    id="NAME_NOT_RESERVED",
    purpose="Checks that no tool name ends in `.output` or `.contract`, the suffixes of files in a schema folder.",
    advice="Rename the tool.",
    category=Category.STRICT,
    scope=Scope.TOOL,
    runs_on_invalid=True,
    bad='{"name": "report.output"}',
    good='{"name": "report"}',
)
def name_not_reserved(subject: Subject) -> Iterator[Problem]:
    name = subject.contract.name
    if name.endswith(RESERVED_ENDINGS):
        yield Problem(subject.entry.under("name"), f"{name!r} ends in a suffix that the schema folder layout reserves", name)


RULES: Final[tuple[Rule, ...]] = (name_grammar, name_unique, name_length, name_not_reserved)
