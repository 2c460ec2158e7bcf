"""The published schemas, compiled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from strictwire.canon.json import parse_object

SCHEMAS = Path(__file__).parents[2] / "schemas" / "envelopes"


@pytest.fixture(scope="session")
def conforms() -> Callable[[str, Any], list[str]]:
    """`conforms(name, value)`: what is wrong with the value by the schema of that name; empty if nothing is."""
    compiled: dict[str, Any] = {}

    def check(name: str, value: Any) -> list[str]:
        if name not in compiled:
            schema = parse_object((SCHEMAS / f"{name}.json").read_bytes())
            compiled[name] = jsonschema_rs.Draft202012Validator(schema, validate_formats=True, offline=True)
        return [str(error) for error in compiled[name].iter_errors(value)]

    return check
