"""Reads the values of a Client from the JSON of a server. What does not have the form that MCP defines is refused."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from strictwire.canon.json import JsonObject
from strictwire.client.errors import NotUnderstood
from strictwire.server.client.values import (
    Completion,
    Content,
    LogMessage,
    Progress,
    Prompt,
    PromptArgument,
    PromptMessage,
    PromptResult,
    Resource,
    ResourceResult,
    ResourceTemplate,
    ServerInfo,
    Tool,
    ToolResult,
    UnknownContent,
)
from strictwire.server.content import Audio, Embedded, Image, Link, Text

T = TypeVar("T")


class Reader:
    """Reads members of one JSON object of a server. Every method raises NotUnderstood: the member has another type."""

    def __init__(self, members: object, what: str) -> None:
        if not isinstance(members, dict):
            raise NotUnderstood(f"{what}: expected an object")
        self.members: Final[JsonObject] = members
        self._what = what

    def get(self, name: str, kind: type[T]) -> T:
        """A required member."""
        value = self.maybe(name, kind)
        if value is None:
            raise NotUnderstood(f"{self._what}: {name} is missing")
        return value

    def maybe(self, name: str, kind: type[T]) -> T | None:
        """A member that may be missing or null."""
        value = self.members.get(name)
        if value is None or (isinstance(value, kind) and (kind is bool or not isinstance(value, bool))):
            return value
        raise NotUnderstood(f"{self._what}: {name} is not {_KINDS.get(kind, 'valid')}")

    def number(self, name: str) -> float | None:
        """A number that may be missing or null."""
        value = self.members.get(name)
        if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
            return value
        raise NotUnderstood(f"{self._what}: {name} is not a number")

    def each(self, name: str, read: Callable[[object], T]) -> tuple[T, ...]:
        """The items of a list that may be missing."""
        return tuple(map(read, self.maybe(name, list) or ()))

    def base64(self, name: str) -> bytes:
        """A required member that is base64."""
        try:
            return base64.b64decode(self.get(name, str), validate=True)
        except (binascii.Error, ValueError) as exc:
            raise NotUnderstood(f"{self._what}: {name} is not base64") from exc


_KINDS: Final[Mapping[type, str]] = {
    str: "a string",
    dict: "an object",
    list: "a list",
    int: "an integer",
    bool: "a boolean",
}


def read_tool(entry: object) -> Tool:
    """Read an entry of `tools/list`. Raises NotUnderstood."""
    read = Reader(entry, "a tool")
    return Tool(
        name=read.get("name", str),
        input_schema=read.get("inputSchema", dict),
        title=read.maybe("title", str),
        description=read.maybe("description", str),
        output_schema=read.maybe("outputSchema", dict),
        annotations=read.maybe("annotations", dict) or {},
        raw=read.members,
    )


def read_resource(entry: object) -> Resource:
    """Read an entry of `resources/list`. Raises NotUnderstood."""
    read = Reader(entry, "a resource")
    return Resource(uri=read.get("uri", str), **_described(read))


def read_template(entry: object) -> ResourceTemplate:
    """Read an entry of `resources/templates/list`. Raises NotUnderstood."""
    read = Reader(entry, "a resource template")
    return ResourceTemplate(uri_template=read.get("uriTemplate", str), **_described(read))


def _described(read: Reader) -> dict[str, Any]:
    names = {"title": "title", "description": "description", "mime_type": "mimeType"}
    texts = {field: read.maybe(name, str) for field, name in names.items()}
    return {**texts, "name": read.get("name", str), "raw": read.members}


def read_prompt(entry: object) -> Prompt:
    """Read an entry of `prompts/list`. Raises NotUnderstood."""
    read = Reader(entry, "a prompt")
    return Prompt(
        name=read.get("name", str),
        title=read.maybe("title", str),
        description=read.maybe("description", str),
        arguments=read.each("arguments", _read_argument),
        raw=read.members,
    )


def _read_argument(entry: object) -> PromptArgument:
    read = Reader(entry, "an argument of a prompt")
    return PromptArgument(
        name=read.get("name", str),
        description=read.maybe("description", str),
        required=read.maybe("required", bool) or False,
    )


def read_content(item: object) -> Content:
    """Read a content item. Raises NotUnderstood: it is malformed."""
    read = Reader(item, "a content item")
    reader = _CONTENT.get(read.get("type", str))
    return UnknownContent(raw=read.members) if reader is None else reader(read)


def _read_embedded(read: Reader) -> Embedded:
    return read_contents(read.get("resource", dict))


def read_contents(item: object) -> Embedded:
    """Read one part of a resource. Raises NotUnderstood."""
    read = Reader(item, "the content of a resource")
    body = read.base64("blob") if "blob" in read.members else read.get("text", str)
    return Embedded(read.get("uri", str), body, read.maybe("mimeType", str))


_CONTENT: Final[Mapping[str, Callable[[Reader], Content]]] = {
    "text": lambda read: Text(read.get("text", str)),
    "image": lambda read: Image(read.base64("data"), read.get("mimeType", str)),
    "audio": lambda read: Audio(read.base64("data"), read.get("mimeType", str)),
    "resource_link": lambda read: Link(read.get("uri", str), read.get("name", str), read.maybe("mimeType", str)),
    "resource": _read_embedded,
}
"""The reader of each kind of content item."""


def read_tool_result(tool: str, result: JsonObject) -> ToolResult:
    """Read the result of `tools/call`. Raises NotUnderstood."""
    read = Reader(result, "the result of a tool")
    read.get("content", list)
    content = read.each("content", read_content)
    return ToolResult(tool=tool, content=content, structured=result.get("structuredContent"), raw=result)


def read_prompt_result(result: JsonObject) -> PromptResult:
    """Read the result of `prompts/get`. Raises NotUnderstood."""
    read = Reader(result, "the result of a prompt")
    read.get("messages", list)
    return PromptResult(
        messages=read.each("messages", _read_message), description=read.maybe("description", str), raw=result
    )


def _read_message(item: object) -> PromptMessage:
    read = Reader(item, "a message of a prompt")
    return PromptMessage(role=read.get("role", str), content=read_content(read.get("content", dict)))


def read_resource_result(result: JsonObject) -> ResourceResult:
    """Read the result of `resources/read`. Raises NotUnderstood."""
    read = Reader(result, "the result of a resource")
    read.get("contents", list)
    return ResourceResult(contents=read.each("contents", read_contents), raw=result)


def read_completion(result: JsonObject) -> Completion:
    """Read the result of `completion/complete`. Raises NotUnderstood."""
    read = Reader(Reader(result, "a completion").get("completion", dict), "a completion")
    values: Sequence[Any] = read.get("values", list)
    if not all(isinstance(each, str) for each in values):
        raise NotUnderstood("a completion: a value is not a string")
    return Completion(values=tuple(values), total=read.maybe("total", int), has_more=read.maybe("hasMore", bool) or False)


def read_progress(params: JsonObject) -> Progress:
    """Read the params of a progress notification. Raises NotUnderstood."""
    read = Reader(params, "a progress notification")
    return Progress(progress=read.number("progress") or 0.0, total=read.number("total"), message=read.maybe("message", str))


def read_log(params: JsonObject) -> LogMessage:
    """Read the params of a log notification. Raises NotUnderstood."""
    read = Reader(params, "a log message")
    return LogMessage(level=read.get("level", str), data=params.get("data"), logger=read.maybe("logger", str))


def read_server(opening: JsonObject, info: object) -> ServerInfo:
    """Read how a server describes itself. Raises NotUnderstood."""
    read = Reader(info or {}, "the server info")
    return ServerInfo(
        name=read.maybe("name", str) or "",
        version=read.maybe("version", str) or "",
        title=read.maybe("title", str),
        instructions=Reader(opening, "the opening").maybe("instructions", str),
        raw=read.members,
    )
