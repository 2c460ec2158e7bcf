"""Engines that return nonsense: whatever JSON comes, the answer fits its schema and holds nothing from outside the roots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.packs.code.desk import Desk, run_desk
from tests.packs.code.test_errors import METHODS, valid

from strictwire.canon.json import render
from strictwire.transport.memory import CallFailed

pytestmark = pytest.mark.slow

NAMES = [
    "uri",
    "range",
    "start",
    "end",
    "line",
    "character",
    "name",
    "kind",
    "location",
    "selectionRange",
    "children",
    "contents",
    "value",
    "language",
    "items",
    "message",
    "severity",
    "code",
    "source",
    "targetUri",
    "targetRange",
    "from",
    "fromRanges",
    "containerName",
]
INSIDE, OUTSIDE = "file:///INSIDE/a.py", "file:///etc/passwd"

leaves = (
    st.none()
    | st.booleans()
    | st.integers(-5, 10)
    | st.integers()
    | st.floats()
    | st.sampled_from([INSIDE, OUTSIDE, "git:/x", "", " ", "\ud800", "markdown", "plaintext", "f\n nextCursor x"])
    | st.text(max_size=5)
)
ranges = st.fixed_dictionaries(
    {end: st.fixed_dictionaries({"line": st.integers(-1, 9), "character": st.integers(-1, 9)}) for end in ("start", "end")}
)
shapes = {
    "uri": st.sampled_from([INSIDE, OUTSIDE, "file:///INSIDE/gone.py"]),
    "range": ranges,
    "selectionRange": ranges,
    "name": st.sampled_from(["used", "f\n nextCursor x", " "]),
    "kind": st.integers(-1, 30),
    "message": st.text(max_size=5),
    "contents": st.text(max_size=5),
    "location": st.fixed_dictionaries({"uri": st.sampled_from([INSIDE, OUTSIDE]), "range": ranges}),
}
entries = st.fixed_dictionaries(shapes) | st.fixed_dictionaries({name: each | leaves for name, each in shapes.items()})
"""What could be a location, a symbol, a caller, a diagnostic or a hover, with members that are right or wrong."""

nonsense = st.recursive(
    leaves | ranges | entries,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6),
)


def place_inside(value: Any, root: Path) -> Any:
    """The same value with URIs of the root where it says INSIDE."""
    if isinstance(value, str):
        return value.replace("file:///INSIDE", root.as_uri())
    if isinstance(value, list):
        return [place_inside(each, root) for each in value]
    return {name: place_inside(each, root) for name, each in value.items()} if isinstance(value, dict) else value


KNOWN = {"CAP_EXCEEDED", "NOT_FOUND", "PROVIDER_UNAVAILABLE"}
"""What nonsense may be refused with. INTERNAL would be a bug, or an answer that does not fit its own schema."""


@pytest.mark.parametrize("tool", METHODS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(value=nonsense)
def test_nonsense_is_dropped_and_the_answer_fits_its_schema(tmp_path: Path, tool: str, value: Any) -> None:
    replies = place_inside(value, tmp_path)
    script = dict.fromkeys([*METHODS.values(), "textDocument/prepareCallHierarchy", "callHierarchy/incomingCalls"], replies)

    async def story(desk: Desk) -> Any:
        try:
            return await desk.result(tool, **valid(desk, tool))
        except CallFailed as exc:
            return exc.error["data"]["code"]

    answer = run_desk(tmp_path, script, story)

    if isinstance(answer, str):
        assert answer in KNOWN
    else:
        assert OUTSIDE.encode() not in render(
            answer["structuredContent"].get("items", answer["structuredContent"].get("locations", []))
        )
