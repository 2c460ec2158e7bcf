"""Content items that a tool may return instead of, or besides, structured content."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Final

from strictwire.canon.json import JsonObject


@dataclass(frozen=True, slots=True)
class Text:
    """Text for the model or the person."""

    text: str

    def as_item(self) -> JsonObject:
        """The MCP content item."""
        return {"type": "text", "text": self.text}


@dataclass(frozen=True, slots=True)
class Image:
    """A picture."""

    data: bytes
    mime_type: str = "image/png"

    def as_item(self) -> JsonObject:
        """The MCP content item."""
        return {"type": "image", "data": base64.b64encode(self.data).decode(), "mimeType": self.mime_type}


@dataclass(frozen=True, slots=True)
class Audio:
    """Sound."""

    data: bytes
    mime_type: str = "audio/wav"

    def as_item(self) -> JsonObject:
        """The MCP content item."""
        return {"type": "audio", "data": base64.b64encode(self.data).decode(), "mimeType": self.mime_type}


@dataclass(frozen=True, slots=True)
class Link:
    """A resource that can be read by its URI."""

    uri: str
    name: str
    mime_type: str | None = None

    def as_item(self) -> JsonObject:
        """The MCP content item."""
        item: JsonObject = {"type": "resource_link", "uri": self.uri, "name": self.name}
        return item | ({"mimeType": self.mime_type} if self.mime_type else {})


@dataclass(frozen=True, slots=True)
class Embedded:
    """A resource with its contents."""

    uri: str
    body: str | bytes
    mime_type: str | None = None

    def as_item(self) -> JsonObject:
        """The MCP content item."""
        return {"type": "resource", "resource": resource_contents(self.uri, self.body, self.mime_type)}


CONTENT: Final = (Text, Image, Audio, Link, Embedded)
"""Every kind of content item."""


def resource_contents(uri: str, body: str | bytes, mime_type: str | None) -> JsonObject:
    """One entry of a resource's contents: text as text, bytes as base64."""
    shown: JsonObject = {"uri": uri} | ({"mimeType": mime_type} if mime_type else {})
    if isinstance(body, bytes):
        return shown | {"blob": base64.b64encode(body).decode()}
    return shown | {"text": body}
