"""What a Client returns: frozen values. `reading` makes them from the JSON of a server."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar, cast

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.contract.safety import Safety, safety_of
from strictwire.contract.tags import tags_in_meta
from strictwire.server.client.convert import convert
from strictwire.server.content import Audio, Embedded, Image, Link, Text

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInfo:
    """How the server describes itself. Not verified: only for display."""

    name: str
    version: str
    title: str | None = None
    instructions: str | None = None
    raw: JsonObject = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool as the server advertises it."""

    name: str
    input_schema: JsonObject
    title: str | None = None
    description: str | None = None
    output_schema: JsonObject | None = None
    annotations: JsonObject = field(default_factory=dict)
    raw: JsonObject = field(repr=False)
    """The whole entry."""

    @property
    def safety(self) -> Safety:
        """What the tool may do, by its annotations. The server claims it; whether to trust it is up to the caller."""
        return safety_of(self.annotations)

    @property
    def tags(self) -> frozenset[str]:
        """The tags that a server of strictwire or FastMCP gives it."""
        return tags_in_meta(self.raw.get("_meta"))

    @property
    def is_repeatable(self) -> bool:
        """Whether the tool claims that a second call with the same arguments changes nothing."""
        return self.safety is Safety.READ_ONLY or self.annotations.get("idempotentHint") is True


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A resource as the server advertises it."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    raw: JsonObject = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceTemplate:
    """A template of resource URIs (RFC 6570)."""

    uri_template: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    raw: JsonObject = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptArgument:
    """An argument of a prompt."""

    name: str
    description: str | None = None
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt as the server advertises it."""

    name: str
    title: str | None = None
    description: str | None = None
    arguments: tuple[PromptArgument, ...] = ()
    raw: JsonObject = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownContent:
    """A content item of a kind that this version does not know."""

    raw: JsonObject


Content: TypeAlias = Text | Image | Audio | Link | Embedded | UnknownContent
"""A content item of a result or a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The result of a tool that succeeded."""

    tool: str
    content: tuple[Content, ...] = ()
    structured: JsonValue = None
    """The structured content; None if there is none."""
    raw: JsonObject = field(repr=False)
    """The whole result."""

    @property
    def text(self) -> str:
        """All text items, one per line."""
        return "\n".join(each.text for each in self.content if isinstance(each, Text))

    def convert_to(self, kind: type[T]) -> T:
        """Convert the structured content to a dataclass, TypedDict, model or any other type. Raises OutputInvalid.

        A result without structured content converts to `str`: its text.
        """
        if kind is str and "structuredContent" not in self.raw:
            return cast("T", self.text)
        return convert(self.structured, kind, self.tool)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptMessage:
    """One message of a prompt."""

    role: str
    content: Content


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptResult:
    """A prompt with its arguments filled in."""

    messages: tuple[PromptMessage, ...]
    description: str | None = None
    raw: JsonObject = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceResult:
    """The content of a resource, which may have several parts."""

    contents: tuple[Embedded, ...]
    raw: JsonObject = field(repr=False)

    @property
    def text(self) -> str:
        """The text of all parts, one per line. Binary parts are left out."""
        return "\n".join(each.body for each in self.contents if isinstance(each.body, str))

    @property
    def blob(self) -> bytes:
        """The bytes of the first binary part; empty if there is none."""
        return next((each.body for each in self.contents if isinstance(each.body, bytes)), b"")


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """Values that complete an argument, best first."""

    values: tuple[str, ...]
    total: int | None = None
    has_more: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of one request."""

    progress: float
    total: float | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogMessage:
    """A log message of the server."""

    level: str
    data: JsonValue
    logger: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Something that the server offers has changed."""

    kind: str
    """`tools`, `prompts` or `resources` (the list), or `resource` (the content of one)."""
    uri: str | None = None
    """The resource, for `resource`."""
