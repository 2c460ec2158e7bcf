"""Makes docs/TYPES.md from the table of type hints. Run it with ./scripts/types-page."""

from __future__ import annotations

import json
from typing import Any

from tests.server.declare.type_cases import CASES, Case

HEAD = """# Type hints

Each row is a type hint of a parameter, with arguments that a tool accepts and arguments that it refuses with
`INVALID_PARAMS`. A test declares a tool for each row, calls it with every value, and compares the decisions with those of
pydantic. The last column says where strictwire is stricter, and why.

Arguments are never coerced: `"1"` is not an integer. Objects with fields are closed. A union of types that JSON cannot tell
apart is tried from left to right, so `date | str` gives a date if the text is one.

| type hint | accepted | refused | pydantic accepts |
|---|---|---|---|
"""


def render_page() -> str:
    """The page."""
    return HEAD + "".join(_row(case) for case in CASES)


def _row(case: Case) -> str:
    differs = "; ".join(f"`{_cell(value)}` ({reason})" for value, reason in case.differs.items())
    return f"| `{_cell(case.text)}` | {_values(case.accepted)} | {_values(case.refused)} | {differs} |\n"


def _values(values: list[Any]) -> str:
    return " ".join(f"`{_cell(as_text(value))}`" for value in values)


def as_text(value: Any) -> str:
    """A value as JSON."""
    return json.dumps(value, separators=(",", ":"))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    print(render_page(), end="")
