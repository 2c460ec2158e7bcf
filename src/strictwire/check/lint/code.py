"""Rules of the category CODE: conventions of read-only code navigation tools, useful for any similar tools."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from strictwire.canon.digest import digest
from strictwire.check.rule import Category, Rule, Scope, rule
from strictwire.check.subject import Problem, Side, SourceKind, Subject, ToolSet
from strictwire.check.tree import Node, NodeKind
from strictwire.contract.subschemas import strip_text

OPTIONAL: Final = frozenset(
    ["cursor", "pageSize", "includeDeclaration", "summary", "range", "severity", "code", "source", "containerName"]
)
"""The only properties that may be absent from `required`."""

CHANGING_PROPERTIES: Final = frozenset({"newText", "edit", "edits", "command", "apply"})


@rule(
    id="CODE_NAME",
    purpose="Checks that a tool's name has only letters, digits, `_` and `-`.",
    advice="Use `_` between the parts of a name.",
    category=Category.CODE,
    scope=Scope.TOOL,
    bad='{"name": "code.hover"}',
    good='{"name": "code_hover"}',
)
def code_name(subject: Subject) -> Iterator[Problem]:
    name = subject.contract.name
    if not re.fullmatch(r"[a-zA-Z0-9_-]+", name):
        yield Problem(subject.entry.under("name"), f"the name {name!r} has characters other than A-Z a-z 0-9 _ -", name)


@rule(
    id="CODE_SCHEMA_ID",
    purpose="Checks that `$id` equals the path of the file in its repository.",
    advice="Set `$id` to the path of the file, as in `schemas/tools/hover.json`.",
    category=Category.CODE,
    scope=Scope.SET,
    bad='{"$id": "hover"}',
    good='{"$id": "schemas/tools/hover.json"}',
)
def code_schema_id(tools: ToolSet) -> Iterator[Problem]:
    if tools.source_kind is not SourceKind.FOLDER:
        return
    for subject in tools.subjects:
        for side in Side:
            schema, origin = subject.schema(side), subject.origin(side)
            if schema is not None and schema.get("$id") != f"schemas/tools/{origin.file.rpartition('/')[2]}":
                yield Problem(origin.under("$id"), "`$id` is not the path of the file", subject.contract.name)


@rule(
    id="CODE_TITLE",
    purpose="Checks that a schema's title is `<tool> — input schema` or `<tool> — output schema`, with a description.",
    advice="Add the title and a one-sentence description at the root.",
    category=Category.CODE,
    scope=Scope.TOOL,
    bad='{"title": "Hover"}',
    good='{"title": "hover — input schema", "description": "Arguments of hover."}',
)
def code_title(subject: Subject) -> Iterator[Problem]:
    for side in Side:
        schema, origin = subject.schema(side), subject.origin(side)
        if schema is None:
            continue
        if schema.get("title") != f"{subject.contract.name} — {side.value} schema":
            expected = f"{subject.contract.name} — {side.value} schema"
            yield Problem(origin.under("title"), f"the title is not {expected!r}", subject.contract.name)
        if not schema.get("description"):
            yield Problem(origin.under("description"), "the schema has no description", subject.contract.name)


@rule(
    id="CODE_OPTIONAL_MEMBERS",
    purpose="Checks that `required` names every property except those that the convention makes optional.",
    advice="Add the property to `required`.",
    category=Category.CODE,
    scope=Scope.NODE,
    keywords=("properties",),
    bad='{"properties": {"uri": {}}, "required": []}',
    good='{"properties": {"uri": {}}, "required": ["uri"]}',
)
def code_optional_members(node: Node) -> Iterator[Problem]:
    if isinstance(node.schema["properties"], dict):
        for name in node.schema["properties"].keys() - set(node.schema.get("required", ())) - OPTIONAL:
            yield node.problem(f"{name!r} is not required, and the convention does not make it optional", "properties", name)


@rule(
    id="CODE_PAGED_OUTPUT",
    purpose="Checks that the output of a paged tool requires `items`, an array, and `nextCursor`, a string or null.",
    advice="Declare both properties and require both.",
    category=Category.CODE,
    scope=Scope.TOOL,
    bad='{"properties": {"items": {"type": "array"}}}',
    good='{"properties": {"items": {"type": "array"}, "nextCursor": {"type": ["string", "null"]}}, '
    '"required": ["items", "nextCursor"]}',
)
def code_paged_output(subject: Subject) -> Iterator[Problem]:
    output = subject.contract.output_schema
    if output is None or "cursor" not in subject.contract.input_schema.get("properties", {}):
        return
    members = {name: each for name, each in output.get("properties", {}).items() if isinstance(each, dict)}
    is_right = (
        members.get("items", {}).get("type") == "array"
        and members.get("nextCursor", {}).get("type") in (["string", "null"], ["null", "string"])
        and {"items", "nextCursor"} <= set(output.get("required", ()))
    )
    if not is_right:
        message = "the output of a paged tool must require `items`, an array, and `nextCursor`, a string or null"
        yield Problem(subject.output.under("properties"), message, subject.contract.name)


@rule(
    id="CODE_ID_DIGEST",
    purpose="Checks that a property `id` is a string with a pattern that begins with `^sha256:`.",
    advice="Set `pattern` to `^sha256:[0-9a-f]{64}$`.",
    category=Category.CODE,
    scope=Scope.NODE,
    property_names=frozenset({"id"}),
    keywords=("type",),
    bad='{"id": {"type": "integer"}}',
    good='{"id": {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}}',
)
def code_id_digest(node: Node) -> Iterator[Problem]:
    if node.kind is NodeKind.PROPERTY:
        pattern = node.schema.get("pattern")
        if node.types() != ("string",) or not (isinstance(pattern, str) and pattern.startswith("^sha256:")):
            yield node.problem("an `id` must be a digest: a string with a pattern that begins with ^sha256:")


@rule(
    id="CODE_INPUT_INLINED",
    purpose="Checks that input schemas have no `$ref`.",
    advice="Inline the definition.",
    category=Category.CODE,
    scope=Scope.NODE,
    side=Side.INPUT,
    keywords=("$ref",),
    bad='{"properties": {"position": {"$ref": "#/$defs/position"}}}',
    good='{"properties": {"position": {"type": "object"}}}',
)
def code_input_inlined(node: Node) -> Iterator[Problem]:
    yield node.problem("the input schema has a reference", "$ref")


@rule(
    id="CODE_DEFS_ALIKE",
    purpose="Checks that definitions with the same name are equal in every schema.",
    advice="Make the definitions equal, or rename one.",
    category=Category.CODE,
    scope=Scope.SET,
    bad='a: {"$defs": {"range": {"type": "object"}}}; b: {"$defs": {"range": {"type": "array"}}}',
    good='a: {"$defs": {"range": {"type": "object"}}}; b: {"$defs": {"range": {"type": "object"}}}',
)
def code_defs_alike(tools: ToolSet) -> Iterator[Problem]:
    first: dict[str, str] = {}
    for subject in tools.subjects:
        for side in Side:
            for name, definition in ((subject.schema(side) or {}).get("$defs") or {}).items():
                shape = digest(strip_text(definition))
                if first.setdefault(name, shape) != shape:
                    location = subject.origin(side).under("$defs", name)
                    message = f"the definition {name!r} differs from the one in an earlier schema"
                    yield Problem(location, message, subject.contract.name)


@rule(
    id="CODE_LISTING",
    purpose="Checks that a tool is marked read-only and has a one-line description of at most 120 characters.",
    advice="Set `readOnlyHint` and shorten the description.",
    category=Category.CODE,
    scope=Scope.TOOL,
    bad='{"description": "Two\\nlines.", "annotations": {}}',
    good='{"description": "One line.", "annotations": {"readOnlyHint": true}}',
)
def code_listing(subject: Subject) -> Iterator[Problem]:
    contract = subject.contract
    if contract.annotations.get("readOnlyHint") is not True:
        yield Problem(subject.entry.under("annotations"), "the tool is not marked read-only", contract.name)
    if "\n" in contract.description or not 0 < len(contract.description) <= 120:
        location = subject.entry.under("description")
        yield Problem(location, "the description is not one line of at most 120 characters", contract.name)


@rule(
    id="CODE_READ_ONLY",
    purpose="Checks that no property has the name of an edit operation: newText, edit, edits, command, apply.",
    advice="Move changes into another tool: code tools only read.",
    category=Category.CODE,
    scope=Scope.NODE,
    keywords=("properties",),
    bad='{"properties": {"newText": {"type": "string"}}}',
    good='{"properties": {"text": {"type": "string"}}}',
)
def code_read_only(node: Node) -> Iterator[Problem]:
    members = node.schema["properties"]
    for name in sorted(CHANGING_PROPERTIES & members.keys()) if isinstance(members, dict) else ():
        yield node.problem(f"the property {name!r} belongs to a tool that changes text", "properties", name)


RULES: Final[tuple[Rule, ...]] = (
    code_name,
    code_schema_id,
    code_title,
    code_optional_members,
    code_paged_output,
    code_id_digest,
    code_input_inlined,
    code_defs_alike,
    code_listing,
    code_read_only,
)
