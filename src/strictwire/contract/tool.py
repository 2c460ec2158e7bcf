"""The contract of one tool, and of the other things a server offers: resources, templates and prompts.

A contract is data. It does not run anything; handlers are bound to it by name elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue

NOTHING: Final[Mapping[str, JsonValue]] = MappingProxyType({})


class Safety(StrEnum):
    """What running the tool can do. Anything but `READ_ONLY` has an intent record before it runs."""

    READ_ONLY = "read-only"
    MUTATING = "mutating"
    DESTRUCTIVE = "destructive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """Run-time bounds of one tool."""

    timeout_ms: int = 30_000
    """Wall time of one call (E9 names 30 s)."""
    response_bytes: int = 4 * 1024 * 1024
    """Size of the structured content and text of one answer."""
    concurrency: int = 1024
    """Calls of this tool that may run at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContract:
    """What one tool promises."""

    name: str
    description: str
    input_schema: JsonObject
    output_schema: JsonObject | None = None
    title: str | None = None
    annotations: Mapping[str, JsonValue] = field(default_factory=lambda: NOTHING)
    """The MCP hints, as advertised: readOnlyHint, destructiveHint, idempotentHint, openWorldHint."""
    category: str = "general"
    tier: str = "core"
    safety: Safety = Safety.READ_ONLY
    roles: frozenset[str] = frozenset()
    """Roles that may call it; empty: any."""
    capabilities: frozenset[str] = frozenset()
    """Client capabilities without which it cannot run, such as `sampling`."""
    caps: Caps = field(default_factory=Caps)
    dialect: str = "mcp"
    """How its failures look over MCP."""
    text_json: bool = False
    """Whether the JSON of the structured content is repeated as text in every revision."""
    notes: str = ""
    listed: bool = True
    """Whether MCP lists show it. A tool that no caller of this server can use is named by `editor/0.1` alone."""
    lists_output: bool = True
    """Whether MCP lists show the output schema. Answers are held to it either way."""
    icons: tuple[JsonObject, ...] = ()
    meta: Mapping[str, JsonValue] = field(default_factory=lambda: NOTHING)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceContract:
    """A resource with a fixed URI, or (with `{name}` parts) a template of URIs."""

    uri: str
    name: str
    description: str = ""
    title: str | None = None
    mime_type: str | None = None
    caps: Caps = field(default_factory=Caps)
    meta: Mapping[str, JsonValue] = field(default_factory=lambda: NOTHING)

    @property
    def is_template(self) -> bool:
        """Whether the URI has parts to fill in."""
        return "{" in self.uri


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptArgument:
    """One argument of a prompt. Prompt arguments are strings by the protocol."""

    name: str
    description: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptContract:
    """What one prompt takes."""

    name: str
    description: str = ""
    title: str | None = None
    arguments: tuple[PromptArgument, ...] = ()
    caps: Caps = field(default_factory=Caps)
    meta: Mapping[str, JsonValue] = field(default_factory=lambda: NOTHING)
