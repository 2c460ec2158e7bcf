"""Content items that a tool can return, instead of structured content or beside it."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeAlias, TypeVar

from strictwire.canon.json import JsonObject


@dataclass(frozen=True, slots=True)
class Text:
    """Text for the model or the user."""

    text: str

    def as_item(self) -> JsonObject:
        """The content item as JSON of MCP."""
        return {"type": "text", "text": self.text}


@dataclass(frozen=True, slots=True)
class Image:
    """An image."""

    data: bytes
    mime_type: str = "image/png"

    def as_item(self) -> JsonObject:
        """The content item as JSON of MCP."""
        return {"type": "image", "data": base64.b64encode(self.data).decode(), "mimeType": self.mime_type}


@dataclass(frozen=True, slots=True)
class Audio:
    """An audio recording."""

    data: bytes
    mime_type: str = "audio/wav"

    def as_item(self) -> JsonObject:
        """The content item as JSON of MCP."""
        return {"type": "audio", "data": base64.b64encode(self.data).decode(), "mimeType": self.mime_type}


@dataclass(frozen=True, slots=True)
class Link:
    """A link to a resource that the client can read by its URI."""

    uri: str
    name: str
    mime_type: str | None = None

    def as_item(self) -> JsonObject:
        """The content item as JSON of MCP."""
        item: JsonObject = {"type": "resource_link", "uri": self.uri, "name": self.name}
        return item | ({"mimeType": self.mime_type} if self.mime_type else {})


@dataclass(frozen=True, slots=True)
class Embedded:
    """A resource with its content."""

    uri: str
    body: str | bytes
    mime_type: str | None = None

    def as_item(self) -> JsonObject:
        """The content item as JSON of MCP."""
        return {"type": "resource", "resource": resource_contents(self.uri, self.body, self.mime_type)}


Content: TypeAlias = Text | Image | Audio | Link | Embedded

CONTENT: Final = (Text, Image, Audio, Link, Embedded)
"""All kinds of content items."""


Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Result(Generic[Value]):
    """Structured data and content in one answer: `-> Result[Stats]` returns `Result(stats, [Image(png)])`."""

    value: Value
    """The structured content. Its type defines the output schema."""
    content: Sequence[Content | str] = ()
    """Content items and texts, for the model or the user."""


def resource_contents(uri: str, body: str | bytes, mime_type: str | None) -> JsonObject:
    """One entry of `contents` of a resource: text as it is, bytes as base64."""
    entry: JsonObject = {"uri": uri} | ({"mimeType": mime_type} if mime_type else {})
    if isinstance(body, bytes):
        return entry | {"blob": base64.b64encode(body).decode()}
    return entry | {"text": body}
