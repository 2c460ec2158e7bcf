"""CompiledTool: everything that is known about a tool before it is called, worked out once.

A prompt, a resource and a tool of an upstream are compiled tools too. The stages that differ between our own tools and those
of an upstream are functions of this value, so there is one driver (`perform`) and no second code path.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from strictwire.contract.conform import Conformer
from strictwire.contract.handler import Handler
from strictwire.contract.tool import Caps, PromptContract, ResourceContract, ToolContract
from strictwire.fault.failure import Failure
from strictwire.pipeline.call import Call, Kind, Outcome
from strictwire.pipeline.limits import ConcurrencyLimit


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledTool:
    """A contract bound to its handler, with validators and limits."""

    kind: Kind
    name: str
    handler: Handler
    is_async: bool
    """Whether the handler is a coroutine function; a plain function runs on a thread."""
    authorise: Refuse
    accept: Refuse
    verify: Verify
    limit: ConcurrencyLimit
    contract: ToolContract | ResourceContract | PromptContract | None = None
    input: Conformer | None = None
    output: Conformer | None = None
    caps: Caps = field(default_factory=Caps)
    seconds: float | None
    """The time limit of the handler; None if it keeps its own."""
    roles: frozenset[str] = frozenset()
    tier: str = "core"
    capabilities: frozenset[str] = frozenset()
    """What the client must be able to do."""
    read_only: bool = True
    dialect: str = "mcp"
    fingerprint: str = ""
    upstream: str = ""
    """The server behind the guard that has the tool."""


Refuse: TypeAlias = Callable[[CompiledTool, Call], Failure | None]
"""A stage before the handler: why the call is refused, or None."""

Verify: TypeAlias = Callable[[CompiledTool, Call, object], Outcome]
"""The stage after the handler: what its return value comes to."""
