"""Lint rules about how well a model can choose a tool: token cost, names and descriptions that differ."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from typing import Final

from strictwire.canon.json import render
from strictwire.check.rule import Category, Rule, Scope, rule
from strictwire.check.subject import Problem, SourceLocation, Subject, ToolSet

BYTES_PER_TOKEN: Final = 4
"""A token of current tokenizers is about four bytes of English JSON; the figure is an estimate and says so."""

MAX_TOOL_TOKENS: Final = 1_500
"""Of 583 public tools, 10 cost more; see docs/field-report.md."""

MAX_LISTING_TOKENS: Final = 10_000
"""Five per cent of a context of 200,000 tokens, spent before the first message."""


def tokens_of(subject: Subject) -> int:
    """About how many tokens a tool costs in every request: name, description and input schema."""
    contract = subject.contract
    sent = {"name": contract.name, "description": contract.description, "inputSchema": contract.input_schema}
    return len(render(sent)) // BYTES_PER_TOKEN


@rule(
    id="TOOL_TOKENS",
    purpose=f"Checks that a tool costs at most about {MAX_TOOL_TOKENS:,} tokens.",
    advice="Shorten the description, drop unused arguments, or split the tool: clients send it with every request.",
    category=Category.AGENTS,
    scope=Scope.TOOL,
    bad='{"description": "a manual of ten pages"}',
    good='{"description": "Counts the rows of one table."}',
)
def tool_tokens(subject: Subject) -> Iterator[Problem]:
    cost = tokens_of(subject)
    if cost > MAX_TOOL_TOKENS:
        yield Problem(subject.entry, f"the tool costs about {cost:,} tokens in every request", subject.contract.name)


@rule(
    id="LISTING_TOKENS",
    purpose=f"Checks that all tools of a server together cost at most about {MAX_LISTING_TOKENS:,} tokens.",
    advice="Offer fewer tools by default, or shorten the most expensive ones.",
    category=Category.AGENTS,
    scope=Scope.SET,
    bad="90 tools of 400 tokens each",
    good="12 tools of 400 tokens each",
)
def listing_tokens(tools: ToolSet) -> Iterator[Problem]:
    costs = sorted(((tokens_of(each), each.contract.name) for each in tools.subjects), reverse=True)
    total = sum(cost for cost, _ in costs)
    if total > MAX_LISTING_TOKENS:
        most = ", ".join(f"{name} {cost:,}" for cost, name in costs[:3])
        message = f"{len(costs)} tools cost about {total:,} tokens in every request; the most: {most}"
        yield Problem(SourceLocation(tools.subjects[0].entry.file), message)


@rule(
    id="NAMES_DISTINCT",
    purpose="Checks that no two tools have names that differ only in case, separators or a plural.",
    advice="Rename one of them after what makes it different.",
    category=Category.AGENTS,
    scope=Scope.SET,
    bad="get_user, getUsers",
    good="get_user, list_users",
)
def names_distinct(tools: ToolSet) -> Iterator[Problem]:
    groups: dict[str, list[Subject]] = defaultdict(list)
    for subject in tools.subjects:
        plain = "".join(char for char in subject.contract.name.lower() if char.isalnum())
        groups[plain.removesuffix("s")].append(subject)
    for group in groups.values():
        names = sorted({each.contract.name for each in group})
        if len(names) > 1:
            yield Problem(group[0].entry, f"names that are easily confused: {', '.join(names)}", group[0].contract.name)


@rule(
    id="TOOLS_DISTINCT",
    purpose="Checks that no two tools have the same description.",
    advice="Say in each description what the other tool does not do, or merge the tools.",
    category=Category.AGENTS,
    scope=Scope.SET,
    bad='{"name": "find", "description": "Searches."}, {"name": "query", "description": "Searches."}',
    good='{"name": "find", "description": "Searches titles."}, {"name": "query", "description": "Searches texts."}',
)
def tools_distinct(tools: ToolSet) -> Iterator[Problem]:
    groups: dict[str, list[Subject]] = defaultdict(list)
    for subject in tools.subjects:
        words = " ".join(subject.contract.description.lower().split())
        if words:
            groups[words].append(subject)
    for group in groups.values():
        names = sorted({each.contract.name for each in group})
        if len(names) > 1:
            message = f"tools with the same description: {', '.join(names)}"
            yield Problem(group[0].entry.under("description"), message, group[0].contract.name)


_COMMON: Final = frozenset(
    {"a", "an", "and", "by", "for", "from", "in", "into", "of", "on", "or", "the", "this", "to", "with"},
)
"""Words that say nothing about what a tool does."""

MIN_SHARED_WORDS: Final = 4
"""Fewest words of a first sentence that are compared: shorter ones, such as "Create page", often differ in one word."""

MIN_OVERLAP: Final = 0.9
"""Share of the words of the shorter sentence that the longer one must have."""

MAX_COMPARED: Final = 400
"""Largest group of tools with the same required arguments and first word whose pairs are compared: 80,000 pairs."""


@rule(
    id="TOOLS_OVERLAP",
    purpose="Checks that no tool's first sentence says what that of another tool with the same required arguments says.",
    advice="Say in each first sentence when to use this tool and not the other, or merge the tools.",
    category=Category.AGENTS,
    scope=Scope.SET,
    bad='read_file: "Reads a text file from disk.", read_text_file: "Reads a text file from disk, as UTF-8."',
    good='read_file: "Reads the bytes of a file.", read_text_file: "Reads a file as UTF-8 text."',
)
def tools_overlap(tools: ToolSet) -> Iterator[Problem]:
    groups: dict[tuple[str, ...], list[tuple[Subject, frozenset[str]]]] = defaultdict(list)
    for subject in tools.subjects:
        words = _first_words(subject.contract.description)
        if len(words) >= MIN_SHARED_WORDS:
            required = subject.contract.input_schema.get("required")
            names = sorted(map(str, required)) if isinstance(required, list) else []
            groups[words[0], *names].append((subject, frozenset(words)))
    for group in groups.values():
        for (one, left), (other, right) in combinations(group if len(group) <= MAX_COMPARED else (), 2):
            is_same = one.contract.description.split() == other.contract.description.split()
            if not is_same and len(left & right) >= MIN_OVERLAP * min(len(left), len(right)):
                message = f"says what {other.contract.name} says, and has the same required arguments"
                yield Problem(one.entry.under("description"), message, one.contract.name)


def _first_words(description: str) -> list[str]:
    """The words of the first sentence that say what a tool does."""
    sentence = re.split(r"[.!?](?:\s|$)|\n", description.strip(), maxsplit=1)[0]
    return [word for word in re.findall(r"\w+", sentence.lower()) if word not in _COMMON]


RULES: Final[tuple[Rule, ...]] = (
    tool_tokens,
    listing_tokens,
    names_distinct,
    tools_distinct,
    tools_overlap,
)
