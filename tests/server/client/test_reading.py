"""Values from the JSON of servers: read strictly, and refused with the name of the wrong member."""

from __future__ import annotations

from typing import Any

import pytest

from strictwire import Embedded, Safety, Text
from strictwire.client.errors import NotUnderstood
from strictwire.server.client import reading
from strictwire.server.client.values import Completion, Progress, PromptMessage, UnknownContent

SCHEMA: dict[str, Any] = {"type": "object"}


def test_a_tool_knows_its_safety_and_whether_it_may_be_repeated() -> None:
    found = {
        str(annotations): (tool.safety, tool.is_repeatable)
        for annotations in ({}, {"readOnlyHint": True}, {"readOnlyHint": False, "idempotentHint": True})
        for tool in [reading.read_tool({"name": "t", "inputSchema": SCHEMA, "annotations": annotations})]
    }

    assert list(found.values()) == [
        (Safety.UNDECLARED, False),
        (Safety.READ_ONLY, True),
        (Safety.UNDECLARED, True),
    ]


def test_unknown_content_is_kept_as_it_is() -> None:
    item = {"type": "hologram", "x": 1}

    assert reading.read_content(item) == UnknownContent(raw=item)


def test_a_resource_has_text_and_bytes() -> None:
    contents = [{"uri": "a:1", "text": "x"}, {"uri": "a:2", "blob": "AQI="}]
    result = reading.read_resource_result({"contents": contents})

    assert (result.text, result.blob) == ("x", b"\1\2")
    assert result.contents == (Embedded("a:1", "x"), Embedded("a:2", b"\1\2"))


def test_a_prompt_a_completion_and_progress_are_read() -> None:
    prompt = reading.read_prompt_result({"messages": [{"role": "user", "content": {"type": "text", "text": "x"}}]})

    assert prompt.messages == (PromptMessage(role="user", content=Text("x")),)
    assert reading.read_completion({"completion": {"values": ["a"], "total": 2, "hasMore": True}}) == Completion(
        values=("a",), total=2, has_more=True
    )
    assert reading.read_progress({"progressToken": 1, "progress": 1, "total": 2.5}) == Progress(progress=1, total=2.5)


MALFORMED: list[tuple[Any, Any, str]] = [
    (reading.read_tool, [], "a tool: expected an object"),
    (reading.read_tool, {"inputSchema": SCHEMA}, "a tool: name is missing"),
    (reading.read_tool, {"name": 1, "inputSchema": SCHEMA}, "a tool: name is not a string"),
    (reading.read_tool, {"name": "t"}, "a tool: inputSchema is missing"),
    (reading.read_tool, {"name": "t", "inputSchema": SCHEMA, "annotations": []}, "a tool: annotations is not an object"),
    (reading.read_resource, {"uri": "a:1"}, "a resource: name is missing"),
    (reading.read_template, {"name": "n"}, "a resource template: uriTemplate is missing"),
    (reading.read_prompt, {"name": "p", "arguments": [{}]}, "an argument of a prompt: name is missing"),
    (reading.read_prompt, {"name": "p", "arguments": [{"name": "a", "required": 1}]}, "required is not a boolean"),
    (reading.read_content, {"type": "text"}, "a content item: text is missing"),
    (reading.read_content, {"type": "audio", "data": "!", "mimeType": "a/b"}, "a content item: data is not base64"),
    (reading.read_content, {"type": "resource", "resource": {"uri": "a:1"}}, "the content of a resource: text is missing"),
    (reading.read_prompt_result, {}, "the result of a prompt: messages is missing"),
    (reading.read_resource_result, {"contents": {}}, "the result of a resource: contents is not a list"),
    (reading.read_completion, {"completion": {"values": [1]}}, "a completion: a value is not a string"),
    (reading.read_progress, {"progress": "1"}, "a progress notification: progress is not a number"),
    (reading.read_log, {"data": 1}, "a log message: level is missing"),
]


@pytest.mark.parametrize(("read", "value", "reason"), MALFORMED)
def test_what_is_malformed_is_refused(read: Any, value: Any, reason: str) -> None:
    with pytest.raises(NotUnderstood, match=reason):
        read(value)
