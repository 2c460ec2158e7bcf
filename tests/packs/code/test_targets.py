"""Where a definition leads, whatever form an engine gives it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from strictwire.packs.code.engine import Span
from strictwire.packs.code.targets import read_targets

RANGE = {"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 5}}
LONG = {"start": {"line": 1, "character": 2}, "end": {"line": 3, "character": 0}}
SPAN = Span(path=Path("/a b.py"), line=1, character=2, end=5)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"uri": "file:///a%20b.py", "range": RANGE}, [SPAN]),
        ([{"uri": "file:///a%20b.py", "range": RANGE}] * 2, [SPAN, SPAN]),
        ({"targetUri": "file:///a%20b.py", "targetRange": LONG, "targetSelectionRange": RANGE}, [SPAN]),
        ({"uri": "file:///x", "range": LONG}, [Span(path=Path("/x"), line=1, character=2, end=2)]),
        (None, []),
        ([], []),
        ([None, 5, "x", {}, {"uri": "file:///x"}, {"uri": 5, "range": RANGE}, {"uri": "http://x/y", "range": RANGE}], []),
        ({"uri": "file:///x", "range": {"start": {"line": "a", "character": 1}, "end": RANGE["end"]}}, []),
    ],
)
def test_every_form_is_read_and_nonsense_is_left_out(value: Any, expected: list[Span]) -> None:
    assert read_targets(value) == expected
