"""Checks the findings of the default ruleset with code that shares nothing with the rules: the validator jsonschema.

Used by `benchmarks.field`, which shows the counts. A finding that is not confirmed is false, or needs a person.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import jsonschema
from jsonschema import validators

from strictwire.check.finding import Finding


def verify(findings: Iterable[Finding]) -> dict[str, Counter[bool]]:
    """For each rule that can be checked: how many findings are confirmed, and how many are not."""
    counts: dict[str, Counter[bool]] = {}
    for finding in findings:
        check = _CHECKS.get(finding.rule)
        if check is not None:
            document = json.loads(Path(finding.file).read_text("utf-8"))
            counts.setdefault(finding.rule, Counter())[check(document, finding.pointer)] += 1
    return counts


def render_verified(findings: Iterable[Finding]) -> str:
    """One sentence for the page."""
    counts = verify(findings)
    confirmed, total = sum(each[True] for each in counts.values()), sum(each.total() for each in counts.values())
    rules = ", ".join(sorted(counts))
    return f"Checked again with another validator: {confirmed} of {total} findings of {rules} are confirmed."


def resolve(document: Any, pointer: str) -> Any:
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        document = document[int(name)] if isinstance(document, list) else document[name]
    return document


def _is_invalid_example(document: Any, pointer: str) -> bool:
    """Whether the default or example at the pointer violates the schema around it."""
    parent, _, last = pointer.rpartition("/")
    schema = resolve(document, parent.rpartition("/")[0] if last.isdigit() else parent)
    definitions = {name: document[name] for name in ("$defs", "definitions") if name in document}
    validator = validators.validator_for(document, default=jsonschema.Draft202012Validator)
    return not validator({**definitions, **schema}).is_valid(resolve(document, pointer))


_CHECKS: Final[Mapping[str, Callable[[Any, str], bool]]] = MappingProxyType(
    {
        "EXAMPLES_VALID": _is_invalid_example,
        "CLIENT_OUTPUT_DIALECT": lambda document, pointer: "draft-07" in resolve(document, pointer),
        "DESCRIPTION_LENGTH": lambda document, pointer: len(resolve(document, pointer)) > 1024,
        "CLIENT_ARRAY_ITEMS": lambda document, pointer: "items" not in resolve(document, pointer),
        "ROOT_TYPE_OBJECT": lambda document, _pointer: document.get("type") != "object",
    }
)
"""Whether a finding of the rule is right, from the schema file and the pointer."""
