"""Rules about properties with the same meaning in every tool: locations, paging, queries, summaries (G8-G10, G13, G14)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from strictwire.check.rule import Category, Rule, Scope, rule
from strictwire.check.subject import Problem, Side
from strictwire.check.tree import Node, NodeKind

RAW_LOCATIONS: Final = frozenset({"path", "file", "filePath", "fileName", "fsPath", "line", "character"})
"""Argument names that clause G8 replaces by `uri` and `position`."""

QUERIES: Final = frozenset({"query", "search", "q"})
"""Argument names of free-text queries."""

MAX_SUMMARY: Final = 200
"""Longest `summary` in characters (clause G14 says "short")."""


def _is_argument(node: Node, *names: str) -> bool:
    at_root = node.parent is not None and node.parent.kind is NodeKind.ROOT
    return at_root and node.kind is NodeKind.PROPERTY and node.name in names


@rule(
    id="LOCATION_BY_URI",
    purpose="Checks that inputs take text locations as `uri` and `position`, not as raw paths, lines or columns.",
    advice="Use `uri` and `position`; waive the finding if another document fixes the name.",
    category=Category.STRICT,
    scope=Scope.NODE,
    side=Side.INPUT,
    property_names=RAW_LOCATIONS,
    keywords=("type",),
    bad='{"properties": {"path": {"type": "string"}, "line": {"type": "integer"}}}',
    good='{"properties": {"uri": {"type": "string", "pattern": "^file:"}, "position": {"$ref": "#/$defs/position"}}}',
)
def location_by_uri(node: Node) -> Iterator[Problem]:
    if _is_argument(node, *RAW_LOCATIONS):
        yield node.problem(f"the argument {node.name!r} is a raw location")


@rule(
    id="URI_IS_FILE",
    purpose="Checks that an argument `uri` is a string with a pattern that begins with `^file:`.",
    advice='Use `{"type": "string", "minLength": 1, "maxLength": 4096, "pattern": "^file:"}`.',
    category=Category.STRICT,
    scope=Scope.NODE,
    side=Side.INPUT,
    property_names=frozenset({"uri"}),
    keywords=("type",),
    bad='{"uri": {"type": "string"}}',
    good='{"uri": {"type": "string", "pattern": "^file:", "maxLength": 4096}}',
)
def uri_is_file(node: Node) -> Iterator[Problem]:
    if _is_argument(node, "uri"):
        pattern = node.schema.get("pattern")
        if node.types() != ("string",) or not (isinstance(pattern, str) and pattern.startswith("^file:")):
            yield node.problem("a `uri` must be a string with a pattern that begins with ^file:", "pattern")


@rule(
    id="POSITION_SHAPE",
    purpose="Checks that a `position` is a closed object with `line` and `character`, both integers with minimum 0.",
    advice="Declare and require exactly `line` and `character`, each an integer with minimum 0.",
    category=Category.STRICT,
    scope=Scope.NODE,
    property_names=frozenset({"position"}),
    keywords=("properties",),
    bad='{"position": {"type": "object", "properties": {"line": {"type": "integer"}}}}',
    good='{"position": {"type": "object", "properties": {"line": {"type": "integer", "minimum": 0}, '
    '"character": {"type": "integer", "minimum": 0}}, "required": ["line", "character"], "additionalProperties": false}}',
)
def position_shape(node: Node) -> Iterator[Problem]:
    if node.kind not in (NodeKind.PROPERTY, NodeKind.DEFINITION):
        return
    members = node.schema.get("properties")
    is_right = (
        isinstance(members, dict)
        and set(members) == {"line", "character"}
        and all(isinstance(each, dict) and _is_count(each) for each in members.values())
        and set(node.schema.get("required", ())) == {"line", "character"}
        and node.schema.get("additionalProperties") is False
    )
    if not is_right:
        yield node.problem("a `position` must be a closed object with line and character, both integers with minimum 0")


def _is_count(schema: dict[str, object]) -> bool:
    return schema.get("type") == "integer" and schema.get("minimum") == 0


@rule(
    id="PAGING_TOGETHER",
    purpose="Checks that `cursor` and `pageSize` come together and are optional, and that a cursor is a string.",
    advice="Declare both or neither; allow a null cursor only for tools listed in `null_cursor`.",
    category=Category.STRICT,
    scope=Scope.NODE,
    side=Side.INPUT,
    keywords=("properties",),
    bad='{"properties": {"cursor": {"type": "string"}}}',
    good='{"properties": {"cursor": {"type": "string"}, "pageSize": {"type": "integer"}}}',
)
def paging_together(node: Node) -> Iterator[Problem]:
    members = node.schema["properties"]
    if node.kind is not NodeKind.ROOT or not isinstance(members, dict):
        return
    present = {"cursor", "pageSize"} & members.keys()
    if len(present) == 1:
        yield node.problem(
            f"only {min(present)!r} is declared; paging needs `cursor` and `pageSize`", "properties", *present
        )
    for name in present & set(node.schema.get("required", ())):
        yield node.problem(f"{name!r} must be optional: the call for the first page omits it", "required")
    yield from _cursor(node, members.get("cursor"))


def _cursor(node: Node, cursor: object) -> Iterator[Problem]:
    if isinstance(cursor, dict):
        named = cursor.get("type")
        may_be_null = node.tree.subject.contract.name in node.tree.parameters.null_cursor
        if named != "string" and not (may_be_null and isinstance(named, list) and set(named) == {"string", "null"}):
            message = "a `cursor` must be a string, or null for tools listed in `null_cursor`"
            yield node.problem(message, "properties", "cursor", "type")


@rule(
    id="PAGE_SIZE_CAPPED",
    purpose="Checks that `pageSize` is an integer from 1 to the page cap.",
    advice="Set `maximum` to the page cap, so that a larger value is an invalid argument.",
    category=Category.STRICT,
    scope=Scope.NODE,
    side=Side.INPUT,
    property_names=frozenset({"pageSize"}),
    keywords=("type",),
    bad='{"pageSize": {"type": "integer", "minimum": 1}}',
    good='{"pageSize": {"type": "integer", "minimum": 1, "maximum": 200}}',
)
def page_size_capped(node: Node) -> Iterator[Problem]:
    if _is_argument(node, "pageSize"):
        cap = node.tree.parameters.page_cap
        found = (node.types(), node.schema.get("minimum"), node.schema.get("maximum"))
        if found != (("integer",), 1, cap):
            yield node.problem(f"`pageSize` must be an integer with minimum 1 and maximum {cap}", "maximum")


@rule(
    id="QUERY_BOUNDED",
    purpose="Checks that a free-text argument `query`, `search` or `q` has a `maxLength` of at most the query cap.",
    advice="Add `maxLength`; the default query cap is 512.",
    category=Category.STRICT,
    scope=Scope.NODE,
    side=Side.INPUT,
    property_names=QUERIES,
    keywords=("type",),
    bad='{"query": {"type": "string"}}',
    good='{"query": {"type": "string", "minLength": 1, "maxLength": 512}}',
)
def query_bounded(node: Node) -> Iterator[Problem]:
    if _is_argument(node, *QUERIES) and "string" in node.types():
        longest = node.schema.get("maxLength")
        if not isinstance(longest, int) or longest > node.tree.parameters.query_cap:
            yield node.problem(f"a query must have a maxLength of at most {node.tree.parameters.query_cap}", "maxLength")


@rule(
    id="OUTPUT_ARRAYS_OF_OBJECTS",
    purpose="Checks that arrays in outputs contain objects, so that a property can be added later.",
    advice="Wrap each item in an object; waive the finding for a plain list of words, with a reason.",
    category=Category.STRICT,
    scope=Scope.NODE,
    side=Side.OUTPUT,
    keywords=("items",),
    bad='{"type": "array", "items": {"type": "string"}}',
    good='{"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}}',
)
def output_arrays_of_objects(node: Node) -> Iterator[Problem]:
    items = node.schema["items"]
    if isinstance(items, dict) and "$ref" not in items and items.get("type") != "object":
        yield node.problem("the items of the array are not objects", "items")


@rule(
    id="OUTPUT_NO_FREE_MAPS",
    purpose="Checks that outputs declare all property names: no `patternProperties`, no `propertyNames`, no schema under "
    "`additionalProperties`.",
    advice="Use an array of objects with a `name` property; waive the finding for a real map, with a reason.",
    category=Category.STRICT,
    scope=Scope.NODE,
    side=Side.OUTPUT,
    keywords=("patternProperties", "propertyNames", "additionalProperties"),
    bad='{"type": "object", "additionalProperties": {"type": "integer"}}',
    good='{"type": "array", "items": {"type": "object"}}',
)
def output_no_free_maps(node: Node) -> Iterator[Problem]:
    for keyword in ("patternProperties", "propertyNames"):
        if keyword in node.schema:
            yield node.problem("the property names are not fixed", keyword)
    if isinstance(node.schema.get("additionalProperties"), dict):
        yield node.problem("the property names are not fixed", "additionalProperties")


@rule(
    id="SUMMARY_SHORT",
    purpose="Checks that a `summary` in an output is an optional string of 1 to 200 characters.",
    advice='Use `{"type": "string", "minLength": 1, "maxLength": 200}` and leave `summary` out of `required`.',
    category=Category.STRICT,
    scope=Scope.NODE,
    side=Side.OUTPUT,
    property_names=frozenset({"summary"}),
    keywords=("type",),
    bad='{"summary": {"type": "string"}}',
    good='{"summary": {"type": "string", "minLength": 1, "maxLength": 200}}',
)
def summary_short(node: Node) -> Iterator[Problem]:
    if node.kind is not NodeKind.PROPERTY:
        return
    longest = node.schema.get("maxLength")
    is_bounded = isinstance(longest, int) and longest <= MAX_SUMMARY and node.schema.get("minLength") == 1
    if node.types() != ("string",) or not is_bounded:
        yield node.problem(f"a summary must be a string of 1 to {MAX_SUMMARY} characters")
    if node.parent is not None and "summary" in node.parent.schema.get("required", ()):
        yield node.problem("a summary must be optional")


RULES: Final[tuple[Rule, ...]] = (
    location_by_uri,
    uri_is_file,
    position_shape,
    paging_together,
    page_size_capped,
    query_bounded,
    output_arrays_of_objects,
    output_no_free_maps,
    summary_short,
)
