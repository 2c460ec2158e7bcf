"""Contracts of tools, resources and prompts. A contract is data only; `pipeline.catalog` binds it to its handler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.contract.safety import Safety, safety_of
from strictwire.contract.task import TaskPolicy
from strictwire.fault.failure_code import FailureCode

EMPTY: Final[Mapping[str, JsonValue]] = MappingProxyType({})
"""An empty mapping that is safe as a default value, because it cannot be changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """Run-time limits of one tool."""

    timeout_ms: int = 30_000
    """Wall-clock time of one call. E9 asks for 30 seconds."""
    response_bytes: int = 4 * 1024 * 1024
    """Size of the structured content and text of one result."""
    concurrency: int = 1024
    """Calls of this tool that may run at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContract:
    """The contract of one tool."""

    name: str
    description: str
    input_schema: JsonObject
    output_schema: JsonObject | None = None
    title: str | None = None
    annotations: Mapping[str, JsonValue] = field(default_factory=lambda: EMPTY)
    """The MCP annotations in `tools/list`: readOnlyHint, destructiveHint, idempotentHint, openWorldHint."""
    category: str = "general"
    tier: str = "core"
    """The lowest tier of a caller that may call it."""
    safety: Safety = Safety.UNDECLARED
    """The effects of a call. An undeclared level is derived from the annotations."""
    roles: frozenset[str] = frozenset()
    """Roles that may call it. Empty means all."""
    capabilities: frozenset[str] = frozenset()
    """Capabilities that the client must have, such as `sampling`."""
    caps: Caps = field(default_factory=Caps)
    dialect: str = "mcp"
    """The dialect that renders its failures over MCP."""
    failures: tuple[FailureCode, ...] = ()
    """The failures that its author documents. A tool may answer with others too."""
    task: TaskPolicy | None = None
    """How its calls become tasks; None if they never do."""
    text_json: bool = False
    """Whether the JSON of the structured content is repeated as text in every revision."""
    notes: str = ""
    listed: bool = True
    """Whether MCP lists show it. A tool that no caller of this server can use is named by `editor/0.1` alone."""
    lists_output: bool = True
    """Whether `tools/list` shows the output schema. Every result is validated against it either way. Packs whose output
    schemas would be most of the list leave them out."""
    icons: tuple[JsonObject, ...] = ()
    tags: frozenset[str] = frozenset()
    """Words that group it, for filters. MCP lists show them in `_meta`."""
    meta: Mapping[str, JsonValue] = field(default_factory=lambda: EMPTY)

    def __post_init__(self) -> None:
        if self.safety is Safety.UNDECLARED:
            object.__setattr__(self, "safety", safety_of(self.annotations))


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceContract:
    """The contract of a resource, or of a resource template if the URI has `{name}` placeholders."""

    uri: str
    name: str
    description: str = ""
    title: str | None = None
    mime_type: str | None = None
    caps: Caps = field(default_factory=Caps)
    tags: frozenset[str] = frozenset()
    meta: Mapping[str, JsonValue] = field(default_factory=lambda: EMPTY)

    @property
    def is_template(self) -> bool:
        """Whether the URI has placeholders."""
        return "{" in self.uri


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptArgument:
    """One argument of a prompt. In MCP all prompt arguments are strings."""

    name: str
    description: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptContract:
    """The contract of one prompt."""

    name: str
    description: str = ""
    title: str | None = None
    arguments: tuple[PromptArgument, ...] = ()
    caps: Caps = field(default_factory=Caps)
    tags: frozenset[str] = frozenset()
    meta: Mapping[str, JsonValue] = field(default_factory=lambda: EMPTY)
