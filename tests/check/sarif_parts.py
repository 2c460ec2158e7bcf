"""The parts of SARIF 2.1.0 that strictwire writes, as a closed schema: section numbers refer to the OASIS standard."""

from __future__ import annotations

from typing import Any, Final


def _closed(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


TEXT: Final = _closed(["text"], text={"type": "string", "minLength": 1})
"""3.11 message, 3.12 multiformatMessageString."""

RULE: Final = _closed(
    ["id", "shortDescription", "help"],
    id={"type": "string", "pattern": "^[A-Z_]+$"},
    name={"type": "string"},
    shortDescription=TEXT,
    help=TEXT,
    properties=_closed(["tags"], tags={"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
)
"""3.49 reportingDescriptor; GitHub requires `id`, `shortDescription` and `help.text`."""

POSITIVE: Final = {"type": "integer", "minimum": 1}

LOCATION: Final = _closed(
    ["physicalLocation"],
    physicalLocation=_closed(
        ["artifactLocation", "region"],
        artifactLocation=_closed(["uri"], uri={"type": "string", "format": "uri-reference", "pattern": "^[^:/ ][^: ]*$"}),
        region=_closed(
            ["startLine"], startLine={"type": "integer", "minimum": 1}, startColumn={"type": "integer", "minimum": 1}
        ),
    ),
    logicalLocations={
        "type": "array",
        "items": _closed([], name={"type": "string"}, fullyQualifiedName={"type": "string"}),
    },
)
"""3.28 location. GitHub shows a result only if it has a file; the URI is relative to the repository."""

RESULT: Final = _closed(
    ["ruleId", "level", "message", "locations", "partialFingerprints"],
    ruleId={"type": "string"},
    level={"enum": ["none", "note", "warning", "error"]},
    message=TEXT,
    locations={"type": "array", "items": LOCATION, "minItems": 1},
    partialFingerprints={"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1},
    suppressions={
        "type": "array",
        "items": _closed(["kind"], kind={"enum": ["inSource", "external"]}, justification={"type": "string"}),
    },
    baselineState={"enum": ["new", "unchanged", "updated", "absent"]},
)
"""3.27 result."""

LOG: Final = _closed(
    ["version", "runs"],
    **{"$schema": {"type": "string", "format": "uri"}},
    version={"const": "2.1.0"},
    runs={
        "type": "array",
        "items": _closed(
            ["tool", "results"],
            tool=_closed(
                ["driver"],
                driver=_closed(
                    ["name"],
                    name={"type": "string"},
                    version={"type": "string"},
                    informationUri={"type": "string", "format": "uri"},
                    rules={"type": "array", "items": RULE, "uniqueItems": True},
                ),
            ),
            results={"type": "array", "items": RESULT, "maxItems": 25_000},
            columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        ),
    },
)
"""3.13 sarifLog, 3.14 run, 3.18 tool. GitHub accepts 25,000 results in a run."""
