"""Lists: page by page with cursors of our own, and in each revision only what it knows."""

from __future__ import annotations

from typing import Any

import pytest

from strictwire.canon.json import parse_object
from strictwire.contract.registry import Registry
from strictwire.contract.tool import PromptArgument, PromptContract, ResourceContract, ToolContract
from strictwire.fault.failure import Failure, fail
from strictwire.profiles.mcp.listing import Lister, show_prompt, show_resource, show_tool
from strictwire.wire.revisions import REVISIONS

MODERN = REVISIONS["2026-07-28"]
SCHEMA = {"type": "object"}


def registry(count: int) -> Registry:
    return Registry().with_tools([ToolContract(name=f"t{n}", description="d", input_schema=SCHEMA) for n in range(count)])


def page(lister: Lister, offered: Registry, cursor: object) -> tuple[list[str], str | None] | Failure:
    found = lister.page("tools/list", offered, MODERN, cursor)
    if isinstance(found, Failure):
        return found
    return [tool["name"] for tool in parse_object(b"{" + found[0] + b"}")["tools"]], found[1]


def test_the_pages_together_are_the_list() -> None:
    lister, offered = Lister(page=3), registry(8)
    names: list[str] = []
    cursor: object = None
    while True:
        found = page(lister, offered, cursor)
        assert not isinstance(found, Failure)
        names += found[0]
        cursor = found[1]
        if cursor is None:
            break

    assert names == [f"t{n}" for n in range(8)]


@pytest.mark.parametrize(("count", "last"), [(0, True), (3, True), (4, False)])
def test_a_full_page_is_the_last_if_nothing_follows(count: int, last: bool) -> None:
    found = page(Lister(page=3), registry(count), None)

    assert not isinstance(found, Failure)
    assert (found[1] is None) is last


def test_a_cursor_holds_only_for_the_list_it_was_given_for() -> None:
    lister = Lister(page=3)
    first = page(lister, registry(8), None)
    assert not isinstance(first, Failure)

    assert page(lister, registry(9), first[1]) == fail("INVALID_CURSOR")


def test_a_cursor_that_we_did_not_give_is_refused() -> None:
    lister, offered = Lister(page=3), registry(8)
    first = page(lister, offered, None)
    assert not isinstance(first, Failure)
    mark = str(first[1]).partition(".")[0]

    for cursor in ("", "x", ".", mark, f"{mark}.", f"{mark}.0", f"{mark}.3", f"{mark}.-1", f"{mark}.01", f"{mark}.\u0661",
                   f"{mark}." + "9" * 5000, f"{mark}.1 ", f"{mark}.1.1", 1):  # fmt: skip
        assert page(lister, offered, cursor) == fail("INVALID_CURSOR"), cursor


TOOL = ToolContract(
    name="t",
    description="d",
    title="T",
    input_schema=SCHEMA,
    output_schema={"type": "array"},
    annotations={"readOnlyHint": True},
    icons=({"src": "data:,"},),
    meta={"a": 1},
)


@pytest.mark.parametrize(
    ("revision", "members"),
    [
        ("2024-11-05", {"name", "description", "inputSchema", "_meta"}),
        ("2025-03-26", {"name", "description", "inputSchema", "_meta", "annotations"}),
        ("2025-06-18", {"name", "description", "inputSchema", "_meta", "annotations", "title"}),
        ("2025-11-25", {"name", "description", "inputSchema", "_meta", "annotations", "title", "icons"}),
        ("2026-07-28", {"name", "description", "inputSchema", "_meta", "annotations", "title", "icons", "outputSchema"}),
    ],
)
def test_a_tool_is_shown_with_what_the_revision_knows(revision: str, members: set[str]) -> None:
    assert show_tool(TOOL, REVISIONS[revision]).keys() == members


def test_an_output_schema_that_is_no_object_is_shown_only_where_it_may_be_one() -> None:
    shown: list[Any] = [show_tool(TOOL, revision).get("outputSchema") for revision in REVISIONS.values()]

    assert shown == [None, None, None, None, {"type": "array"}]


def test_resources_templates_and_prompts_are_shown_whole() -> None:
    fixed = ResourceContract(uri="a://b", name="n", description="d", title="T", mime_type="text/plain", meta={"x": 1})
    open_ended = ResourceContract(uri="a://{b}", name="n")
    prompt = PromptContract(name="p", title="T", arguments=(PromptArgument(name="a", required=True),), meta={"x": 1})

    assert show_resource(fixed, MODERN) == {
        "uri": "a://b", "name": "n", "title": "T", "description": "d", "mimeType": "text/plain", "_meta": {"x": 1},
    }  # fmt: skip
    assert show_resource(open_ended, MODERN) == {"uriTemplate": "a://{b}", "name": "n"}
    assert show_prompt(prompt, MODERN) == {
        "name": "p", "title": "T", "arguments": [{"name": "a", "description": "", "required": True}], "_meta": {"x": 1},
    }  # fmt: skip


@pytest.mark.parametrize(("listed", "expected"), [(True, SCHEMA), (False, None)])
def test_an_output_schema_is_shown_unless_its_contract_says_otherwise(listed: bool, expected: Any) -> None:
    tool = ToolContract(name="t", description="d", input_schema=SCHEMA, output_schema=SCHEMA, lists_output=listed)

    assert show_tool(tool, MODERN).get("outputSchema") == expected
