"""Lint rules about how well a model can use the tools: described arguments, token cost, names and tools that differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

from strictwire.canon.json import render
from strictwire.check.rule import Category, Rule, Scope, rule
from strictwire.check.subject import Problem, SourceLocation, Subject, ToolSet

BYTES_PER_TOKEN: Final = 4
"""A token of current tokenizers is about four bytes of English JSON; the figure is an estimate and says so."""

MAX_TOOL_TOKENS: Final = 1_500
"""Of 583 public tools, 10 cost more; see docs/field-report.md."""

MAX_LISTING_TOKENS: Final = 10_000
"""Five per cent of a context of 200,000 tokens, spent before the first message."""


@rule(
    id="ARGUMENTS_DESCRIBED",
    purpose="Checks that every argument has a description.",
    advice="Say what the argument means, its unit or form, and what happens without it.",
    category=Category.AGENTS,
    scope=Scope.TOOL,
    bad='{"properties": {"q": {"type": "string"}}}',
    good='{"properties": {"q": {"type": "string", "description": "Words to search for."}}}',
)
def arguments_described(subject: Subject) -> Iterator[Problem]:
    properties = subject.contract.input_schema.get("properties")
    names = properties.items() if isinstance(properties, dict) else ()
    missing = [name for name, schema in names if not _is_described(schema, subject.contract.input_schema)]
    if missing:
        # One finding for a tool: the cause is one, and a list of forty lines hides the others.
        shown = ", ".join(missing[:8]) + (f" and {len(missing) - 8} more" if len(missing) > 8 else "")
        location = subject.input.under("properties", missing[0])
        yield Problem(location, f"no description: {shown}", subject.contract.name)


def _is_described(schema: Any, root: Any) -> bool:
    """Whether an argument, or the definition that it refers to, has a description."""
    if not isinstance(schema, dict) or schema.get("description"):
        return isinstance(schema, dict)
    target = str(schema.get("$ref", "")).rpartition("/")[2]
    definition = {**root.get("definitions", {}), **root.get("$defs", {})}.get(target)
    return isinstance(definition, dict) and bool(definition.get("description"))


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


RULES: Final[tuple[Rule, ...]] = (arguments_described, tool_tokens, listing_tokens, names_distinct, tools_distinct)
