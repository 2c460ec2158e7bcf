"""How a user names the tools that may be called."""

from __future__ import annotations

import pytest

from strictwire.probe.hints import parse_hints


def test_names_and_arguments() -> None:
    assert parse_hints(['add={"a":1}', "fs.read={}", 'eq={"x":"a=b"}']) == {
        "add": {"a": 1},
        "fs.read": {},
        "eq": {"x": "a=b"},
    }


@pytest.mark.parametrize("text", ["", "add", "={}", "add=", "add=[1]", "add={", 'add={"a":1,"a":2}'])
def test_anything_else_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected NAME=JSON|no JSON object"):
        parse_hints([text])
