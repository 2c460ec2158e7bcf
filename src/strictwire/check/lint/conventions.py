"""Rules about members that mean the same in every tool: locations, paging, queries, summaries (G8 to G10, G13, G14)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from strictwire.check.rule import Category, Rule, Scope, rule
from strictwire.check.subject import Problem, Side
from strictwire.check.tree import Node, Role

RAW_LOCATIONS: Final = frozenset({"path", "file", "filePath", "fileName", "fsPath", "line", "character"})
"""Names of raw locations that G8 replaces by `uri` and `position`."""

QUERIES: Final = frozenset({"query", "search", "q"})
"""Names of free-text queries."""

SUMMARY_MAX: Final = 200


def _is_argument(node: Node, *names: str) -> bool:
    at_root = node.parent is not None and node.parent.role is Role.ROOT
    return at_root and node.role is Role.PROPERTY and node.name in names


@rule(
    id="LOCATION_BY_URI",
    purpose="Checks that inputs name places in text by `uri` and `position`, not by raw paths, lines or columns.",
    advice="Take a `uri` and a `position`; waive the place where another document fixes the name.",
    category=Category.STRICT,
    scope=Scope.NODE,
    side=Side.INPUT,
    names=RAW_LOCATIONS,
    on=("type",),
    bad='{"properties": {"path": {"type": "string"}, "line": {"type": "integer"}}}',
    good='{"properties": {"uri": {"type": "string", "pattern": "^file:"}, "position": {"$ref": "#/$defs/position"}}}',
)
def location_by_uri(node: Node) -> Iterator[Problem]:
    if _is_argument(node, *RAW_LOCATIONS):
        yield node.problem(f"the argument {node.name!r} is a raw location")


@rule(
    id="URI_IS_FILE",
    purpose="Checks that an argument `uri` is a text whose pattern begins with `^file:`.",
    advice='Write `{"type": "string", "minLength": 1, "maxLength": 4096, "pattern": "^file:"}`.',
    category=Category.STRICT,
    scope=Scope.NODE,
    side=Side.INPUT,
    names=frozenset({"uri"}),
    on=("type",),
    bad='{"uri": {"type": "string"}}',
    good='{"uri": {"type": "string", "pattern": "^file:", "maxLength": 4096}}',
)
def uri_is_file(node: Node) -> Iterator[Problem]:
    if _is_argument(node, "uri"):
        pattern = node.schema.get("pattern")
        if node.types() != ("string",) or not (isinstance(pattern, str) and pattern.startswith("^file:")):
            yield node.problem("a `uri` is a text with a pattern that begins with ^file:", "pattern")


@rule(
    id="POSITION_SHAPE",
    purpose="Checks that a `position` is a closed object of `line` and `character`, integers from 0.",
    advice="Require exactly `line` and `character`, each an integer with minimum 0.",
    category=Category.STRICT,
    scope=Scope.NODE,
    names=frozenset({"position"}),
    on=("properties",),
    bad='{"position": {"type": "object", "properties": {"line": {"type": "integer"}}}}',
    good='{"position": {"type": "object", "properties": {"line": {"type": "integer", "minimum": 0}, '
    '"character": {"type": "integer", "minimum": 0}}, "required": ["line", "character"], "additionalProperties": false}}',
)
def position_shape(node: Node) -> Iterator[Problem]:
    if node.role not in (Role.PROPERTY, Role.DEFINITION):
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
        yield node.problem("a `position` is a closed object of line and character, integers from 0")


def _is_count(schema: dict[str, object]) -> bool:
    return schema.get("type") == "integer" and schema.get("minimum") == 0


@rule(
    id="PAGING_TOGETHER",
    purpose="Checks that `cursor` and `pageSize` stand together, are optional, and that a cursor is a text.",
    advice="Have both or none; allow a null cursor only where the contract lists the tool.",
    category=Category.STRICT,
    scope=Scope.NODE,
    side=Side.INPUT,
    on=("properties",),
    bad='{"properties": {"cursor": {"type": "string"}}}',
    good='{"properties": {"cursor": {"type": "string"}, "pageSize": {"type": "integer"}}}',
)
def paging_together(node: Node) -> Iterator[Problem]:
    members = node.schema["properties"]
    if node.role is not Role.ROOT or not isinstance(members, dict):
        return
    present = {"cursor", "pageSize"} & members.keys()
    if len(present) == 1:
        yield node.problem(f"{min(present)!r} stands alone; paging has `cursor` and `pageSize`", "properties", *present)
    for name in present & set(node.schema.get("required", ())):
        yield node.problem(f"{name!r} must be optional: the first page has none", "required")
    yield from _cursor(node, members.get("cursor"))


def _cursor(node: Node, cursor: object) -> Iterator[Problem]:
    if isinstance(cursor, dict):
        named = cursor.get("type")
        may_be_null = node.tree.subject.contract.name in node.tree.terms.null_cursor
        if named != "string" and not (may_be_null and isinstance(named, list) and set(named) == {"string", "null"}):
            yield node.problem("a `cursor` is a text, or null where the contract says so", "properties", "cursor", "type")


@rule(
    id="PAGE_SIZE_CAPPED",
    purpose="Checks that `pageSize` is an integer from 1 to the page cap.",
    advice="Write the cap as `maximum`: a larger page is then refused as an invalid argument.",
    category=Category.STRICT,
    scope=Scope.NODE,
    side=Side.INPUT,
    names=frozenset({"pageSize"}),
    on=("type",),
    bad='{"pageSize": {"type": "integer", "minimum": 1}}',
    good='{"pageSize": {"type": "integer", "minimum": 1, "maximum": 200}}',
)
def page_size_capped(node: Node) -> Iterator[Problem]:
    if _is_argument(node, "pageSize"):
        cap = node.tree.terms.page_cap
        found = (node.types(), node.schema.get("minimum"), node.schema.get("maximum"))
        if found != (("integer",), 1, cap):
            yield node.problem(f"`pageSize` is an integer with minimum 1 and maximum {cap}", "maximum")


@rule(
    id="QUERY_BOUNDED",
    purpose="Checks that a free-text `query` or `search` argument has a `maxLength` of at most the query cap.",
    advice="Add `maxLength`; 512 is what the contract of the code tools uses.",
    category=Category.STRICT,
    scope=Scope.NODE,
    side=Side.INPUT,
    names=QUERIES,
    on=("type",),
    bad='{"query": {"type": "string"}}',
    good='{"query": {"type": "string", "minLength": 1, "maxLength": 512}}',
)
def query_bounded(node: Node) -> Iterator[Problem]:
    if _is_argument(node, *QUERIES) and "string" in node.types():
        longest = node.schema.get("maxLength")
        if not isinstance(longest, int) or longest > node.tree.terms.query_cap:
            yield node.problem(f"a query has a maxLength of at most {node.tree.terms.query_cap}", "maxLength")


@rule(
    id="OUTPUT_ARRAYS_OF_OBJECTS",
    purpose="Checks that arrays in outputs hold objects, so that a field can be added later.",
    advice="Wrap each item into an object with one member; waive plain lists of words with a reason.",
    category=Category.STRICT,
    scope=Scope.NODE,
    side=Side.OUTPUT,
    on=("items",),
    bad='{"type": "array", "items": {"type": "string"}}',
    good='{"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}}',
)
def output_arrays_of_objects(node: Node) -> Iterator[Problem]:
    items = node.schema["items"]
    if isinstance(items, dict) and "$ref" not in items and items.get("type") != "object":
        yield node.problem("the array holds something else than objects", "items")


@rule(
    id="OUTPUT_NO_FREE_MAPS",
    purpose="Checks that outputs have fixed member names: no `patternProperties`, `propertyNames` or free values.",
    advice="Use an array of objects with a name member; waive a real map with its reason.",
    category=Category.STRICT,
    scope=Scope.NODE,
    side=Side.OUTPUT,
    on=("patternProperties", "propertyNames", "additionalProperties"),
    bad='{"type": "object", "additionalProperties": {"type": "integer"}}',
    good='{"type": "array", "items": {"type": "object"}}',
)
def output_no_free_maps(node: Node) -> Iterator[Problem]:
    for keyword in ("patternProperties", "propertyNames"):
        if keyword in node.schema:
            yield node.problem("the names of the members are not fixed", keyword)
    if isinstance(node.schema.get("additionalProperties"), dict):
        yield node.problem("the names of the members are not fixed", "additionalProperties")


@rule(
    id="SUMMARY_SHORT",
    purpose="Checks that a `summary` in an output is an optional text of 1 to 200 characters.",
    advice='Write `{"type": "string", "minLength": 1, "maxLength": 200}` and leave it out of `required`.',
    category=Category.STRICT,
    scope=Scope.NODE,
    side=Side.OUTPUT,
    names=frozenset({"summary"}),
    on=("type",),
    bad='{"summary": {"type": "string"}}',
    good='{"summary": {"type": "string", "minLength": 1, "maxLength": 200}}',
)
def summary_short(node: Node) -> Iterator[Problem]:
    if node.role is not Role.PROPERTY:
        return
    longest = node.schema.get("maxLength")
    is_bounded = isinstance(longest, int) and longest <= SUMMARY_MAX and node.schema.get("minLength") == 1
    if node.types() != ("string",) or not is_bounded:
        yield node.problem(f"a summary is a text of 1 to {SUMMARY_MAX} characters")
    if node.parent is not None and "summary" in node.parent.schema.get("required", ()):
        yield node.problem("a summary is optional")


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
