"""Lint rules about how well a model can fill the arguments of a tool: descriptions, and types that allow no nonsense."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from strictwire.check.rule import Category, Rule, Scope, rule
from strictwire.check.subject import Problem, Side, Subject
from strictwire.check.tree import Node, NodeKind


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
        location = subject.input.under("properties", missing[0])
        yield Problem(location, f"no description: {_shown(missing)}", subject.contract.name)


def _is_described(schema: Any, root: Any) -> bool:
    """Whether an argument, or the definition that it refers to, has a description."""
    if not isinstance(schema, dict) or schema.get("description"):
        return isinstance(schema, dict)
    target = str(schema.get("$ref", "")).rpartition("/")[2]
    definition = {**root.get("definitions", {}), **root.get("$defs", {})}.get(target)
    return isinstance(definition, dict) and bool(definition.get("description"))


MAX_SHOWN: Final = 8
"""Names in one message. One finding for a tool: the cause is one, and a list of forty lines hides the others."""


def _shown(names: list[str]) -> str:
    return ", ".join(names[:MAX_SHOWN]) + (f" and {len(names) - MAX_SHOWN} more" if len(names) > MAX_SHOWN else "")


@rule(
    id="NESTED_ARGUMENTS_DESCRIBED",
    purpose="Checks that the properties of objects inside the arguments have descriptions.",
    advice="Say what each property means, its unit or form, and what happens without it.",
    category=Category.AGENTS,
    scope=Scope.TOOL,
    bad='{"properties": {"edit": {"type": "object", "properties": {"old": {"type": "string"}}}}}',
    good='{"properties": {"edit": {"type": "object", "properties": {"old": {"description": "Text to replace."}}}}}',
)
def nested_arguments_described(subject: Subject) -> Iterator[Problem]:
    root = subject.contract.input_schema
    properties = root.get("properties")
    missing = [
        (path, steps)
        for name, schema in (properties.items() if isinstance(properties, dict) else ())
        for path, steps, nested in _nested(schema, name, ("properties", name), MAX_DEPTH)
        if not _is_described(nested, root)
    ]
    if missing:
        message = f"no description: {_shown([path for path, _ in missing])}"
        yield Problem(subject.input.under(*missing[0][1]), message, subject.contract.name)


MAX_DEPTH: Final = 8
"""Levels of nested objects and arrays that are read."""


def _nested(schema: Any, path: str, steps: tuple[str, ...], depth: int) -> Iterator[tuple[str, tuple[str, ...], Any]]:
    """The properties inside an argument, each with its name, its place and its schema. References are not followed."""
    if not isinstance(schema, dict) or not depth:
        return
    yield from _nested(schema.get("items"), f"{path}[]", (*steps, "items"), depth - 1)
    properties = schema.get("properties")
    for name, inner in properties.items() if isinstance(properties, dict) else ():
        below = (*steps, "properties", name)
        yield f"{path}.{name}", below, inner
        yield from _nested(inner, f"{path}.{name}", below, depth - 1)


_COUNTS: Final = re.compile(
    r"(?:.*_)?(?:limit|count|offset|page|per_page|page_size|page_number|port|index|depth|max_results|num_results|max_items"
    r"|max_tokens|max_pages|max_length|max_depth|top_k|retries|max_retries)|.+_(?:number|id)",
)
"""Names, in snake case, of arguments that count or number something."""


@rule(
    id="COUNTS_ARE_INTEGERS",
    purpose="Checks that an argument that counts or numbers something, such as `limit` or `issue_id`, is an integer.",
    advice='Set `"type": "integer"`: with `number`, 2.5 is valid.',
    category=Category.AGENTS,
    scope=Scope.NODE,
    keywords=("type",),
    side=Side.INPUT,
    bad='{"limit": {"type": "number"}}',
    good='{"limit": {"type": "integer"}}',
)
def counts_are_integers(node: Node) -> Iterator[Problem]:
    if (
        node.kind is not NodeKind.PROPERTY
        or "number" not in node.types()
        or "enum" in node.schema
        or "multipleOf" in node.schema
    ):
        return
    if _COUNTS.fullmatch(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", node.name).lower()):
        yield node.problem(f"{node.name!r} is a whole number by its name, but its type allows a fraction", "type")


_RANGE: Final = re.compile(
    r"(?:\bbetween -?\d+(?:\.\d+)? and|\bfrom -?\d+(?:\.\d+)? to|[(:\[] ?-?\d+(?:\.\d+)? ?(?:-|–|to|\.\.)) ?-?\d+"
)
"""A range in a description: `between 1 and 20`, `from 1 to 20`, `(1-20)`, `: 1-20`. A bare `1-20` may be a date."""

_BOUNDS: Final = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "enum", "const"})


@rule(
    id="RANGE_IN_SCHEMA",
    purpose="Checks that a range of numbers that a description states is in the schema too.",
    advice="Add `minimum` and `maximum`: a value outside of the range is then refused before the tool runs.",
    category=Category.AGENTS,
    scope=Scope.NODE,
    keywords=("description",),
    side=Side.INPUT,
    bad='{"limit": {"type": "integer", "description": "Number of results (1-20)."}}',
    good='{"limit": {"type": "integer", "description": "Number of results.", "minimum": 1, "maximum": 20}}',
)
def range_in_schema(node: Node) -> Iterator[Problem]:
    description = node.schema.get("description")
    is_number = not {"integer", "number"}.isdisjoint(node.types())
    if node.kind is not NodeKind.PROPERTY or not is_number or not isinstance(description, str):
        return
    stated = _RANGE.search(description)
    if stated is not None and not _BOUNDS & node.schema.keys():
        yield node.problem(f"{node.name!r} has a range in its description, but neither minimum nor maximum", "description")


RULES: Final[tuple[Rule, ...]] = (arguments_described, nested_arguments_described, counts_are_integers, range_in_schema)
