"""CompiledTool: everything that is known about a tool before it is called, computed once.

A prompt, a resource and a tool of an upstream are compiled tools too. The stages that differ between our own tools and those
of an upstream are functions of this value, so there is one driver (`perform`) and no second code path.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from strictwire.contract.conform import Conformer
from strictwire.contract.handler import ExplainsRefusals, Handler
from strictwire.contract.task import TaskPolicy
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
    """The time limit of the handler; None if the handler enforces its own."""
    roles: frozenset[str] = frozenset()
    tier: str = "core"
    capabilities: frozenset[str] = frozenset()
    """Capabilities that the client must declare."""
    read_only: bool = True
    task: TaskPolicy | None = None
    """How its calls become tasks; None if they never do."""
    dialect: str = "mcp"
    fingerprint: str = ""
    """The whole fingerprint of the contract, docs/FINGERPRINT.md; empty for targets that are not tools."""
    upstream: str = ""
    """The name of the upstream that has the tool; empty for our own tools."""
    explainer: ExplainsRefusals | None = None
    """Its handler as the author gave it, if that can explain refusals. Middleware replaces `handler`, not this."""


Refuse: TypeAlias = Callable[[CompiledTool, Call], Failure | None]
"""A stage before the handler: why the call is refused, or None."""

Verify: TypeAlias = Callable[[CompiledTool, Call, object], Outcome]
"""The stage after the handler: turns its return value into an outcome."""
