"""Rules about `$ref`, `$defs` (clause G15) and unknown keywords."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from strictwire.canon.json import JsonObject
from strictwire.check.rule import Category, Rule, Scope, rule
from strictwire.check.subject import Problem, Side, Subject
from strictwire.check.tree import Node
from strictwire.contract.schema import walk


@rule(
    id="REF_DEFS_ONLY",
    purpose="Checks that every reference points into `#/$defs/` of the same schema, without anchors or dynamic references.",
    advice="Move the definition under `$defs`; `strictwire bundle` does this for references to other files.",
    category=Category.STRICT,
    scope=Scope.NODE,
    keywords=("$ref", "$dynamicRef", "$recursiveRef", "$anchor", "$dynamicAnchor"),
    bad='{"$ref": "#/properties/start"}',
    good='{"$ref": "#/$defs/position"}',
)
def ref_defs_only(node: Node) -> Iterator[Problem]:
    for keyword in ("$dynamicRef", "$recursiveRef", "$anchor", "$dynamicAnchor"):
        if keyword in node.schema:
            yield node.problem(f"`{keyword}` makes a schema hard to read and compare", keyword)
    target = node.schema.get("$ref")
    if isinstance(target, str) and not target.startswith("#/$defs/"):
        yield node.problem(f"the reference {target[:80]} does not point into #/$defs/", "$ref")


@rule(
    id="REF_BUNDLED",
    purpose="Checks that a schema has no reference to another file: clients cannot resolve it.",
    advice="Run `strictwire bundle` and serve its output.",
    category=Category.MINIMAL,
    scope=Scope.NODE,
    keywords=("$ref",),
    bad='{"$ref": "common.schema.json#/$defs/position"}',
    good='{"$ref": "#/$defs/position"}',
)
def ref_bundled(node: Node) -> Iterator[Problem]:
    target = node.schema["$ref"]
    if isinstance(target, str) and "://" not in target and target.partition("#")[0]:
        known = {part["$id"] for _, part in walk(node.tree.root) if isinstance(part.get("$id"), str)}
        if target.partition("#")[0] not in known:
            yield node.problem(f"the reference {target[:80]} points to another file", "$ref")


@rule(
    id="DEFS_USED",
    purpose="Checks that every definition under `$defs` is used.",
    advice="Delete the definition: clients send it to the model with every request.",
    category=Category.STANDARD,
    scope=Scope.TOOL,
    bad='{"type": "object", "$defs": {"old": {}}}',
    good='{"type": "object"}',
)
def defs_used(subject: Subject) -> Iterator[Problem]:
    for side in Side:
        schema = subject.schema(side) or {}
        for keyword in ("$defs", "definitions"):
            defined = schema.get(keyword)
            if isinstance(defined, dict) and defined:
                for name in _unused(schema, keyword, defined):
                    location = subject.origin(side).under(keyword, name)
                    yield Problem(location, f"the definition {name!r} is not used", subject.contract.name)


def _unused(schema: JsonObject, keyword: str, defined: dict[str, Any]) -> list[str]:
    targets = {part["$ref"] for _, part in walk(schema) if isinstance(part.get("$ref"), str)}
    anchored = any("$dynamicRef" in part or "$anchor" in part for _, part in walk(schema))
    prefixes = {name: f"#/{keyword}/{name.replace('~', '~0').replace('/', '~1')}" for name in defined}
    used = {
        name
        for name, prefix in prefixes.items()
        if any(target == prefix or target.startswith(prefix + "/") for target in targets)
    }
    return [] if anchored else [name for name in defined if name not in used]


KEYWORDS: Final = frozenset(
    [
        "$schema",
        "$id",
        "$ref",
        "$anchor",
        "$dynamicRef",
        "$dynamicAnchor",
        "$recursiveRef",
        "$recursiveAnchor",
        "$defs",
        "$comment",
        "$vocabulary",
        "definitions",
        "dependencies",
        "additionalItems",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "dependentSchemas",
        "dependentRequired",
        "prefixItems",
        "items",
        "contains",
        "minContains",
        "maxContains",
        "properties",
        "patternProperties",
        "additionalProperties",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
        "type",
        "enum",
        "const",
        "multipleOf",
        "maximum",
        "exclusiveMaximum",
        "minimum",
        "exclusiveMinimum",
        "maxLength",
        "minLength",
        "pattern",
        "maxItems",
        "minItems",
        "uniqueItems",
        "maxProperties",
        "minProperties",
        "required",
        "title",
        "description",
        "default",
        "deprecated",
        "readOnly",
        "writeOnly",
        "examples",
        "format",
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
    ]
)


@rule(
    id="KEYWORDS_KNOWN",
    purpose="Checks that every keyword is a JSON Schema keyword: validators silently ignore a misspelled one.",
    advice="Correct the spelling; start custom keywords with `x-`.",
    category=Category.STANDARD,
    scope=Scope.NODE,
    bad='{"type": "string", "maxlength": 10}',
    good='{"type": "string", "maxLength": 10}',
)
def keywords_known(node: Node) -> Iterator[Problem]:
    if not node.schema.keys() <= KEYWORDS:
        for name in node.schema.keys() - KEYWORDS:
            if not name.startswith(("x-", "~")):
                yield node.problem(f"{name[:40]!r} is not a JSON Schema keyword; validators ignore it", name)


RULES: Final[tuple[Rule, ...]] = (ref_defs_only, ref_bundled, defs_used, keywords_known)
