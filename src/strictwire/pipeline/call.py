"""The values that pass through the stages.

Those that are made for every call are msgspec structs: frozen like dataclasses, and made in a fraction of the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, TypeAlias

import msgspec

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.contract.conform import Conformer
from strictwire.contract.handler import Ask, CallContext, Handler
from strictwire.contract.tool import Caps, PromptContract, ResourceContract, ToolContract
from strictwire.fault.failure import Facts, Failure
from strictwire.pipeline.caps import Gate
from strictwire.pipeline.deadline import Deadline


class Kind(StrEnum):
    """What is called."""

    TOOL = "tool"
    RESOURCE = "resource"
    PROMPT = "prompt"
    COMPLETION = "completion"


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Who calls, as far as the transport could establish it."""

    principal: str = "local"
    role: str | None = None
    tier: str = "core"
    session_id: str | None = None


class RunningContext(CallContext, Protocol):
    """A handler's context as the stages see it."""

    deadline: Deadline | None
    """Set by the run stage, so that waiting for a person does not use up the tool's time."""
    attributed: Facts | None
    """What the handler said of the call besides."""


class Trace(msgspec.Struct, kw_only=True):
    """What the run stage learns of a failure besides the failure itself."""

    facts: Facts | None = None
    """Facts that the handler knew: its session, its workspace."""
    stack: str | None = None
    """Where it happened; only with DEBUG_STACK."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One call, ready for the stages."""

    kind: Kind
    target: str
    """Tool or prompt name, or URI."""
    arguments: JsonObject
    caller: Caller
    transport: str
    profile: str
    method: str
    revision: str
    context: RunningContext
    capabilities: frozenset[str] = frozenset()
    """What the client declared it can do."""
    trace: Trace = msgspec.field(default_factory=Trace)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A contract bound to what runs it, compiled."""

    kind: Kind
    name: str
    handler: Handler
    contract: ToolContract | ResourceContract | PromptContract | None = None
    accepts: Conformer | None = None
    promises: Conformer | None = None
    caps: Caps = field(default_factory=Caps)
    gate: Gate
    is_async: bool
    roles: frozenset[str] = frozenset()
    tier: str = "core"
    capabilities: frozenset[str] = frozenset()
    read_only: bool = True
    dialect: str = "mcp"
    fingerprint: str = ""


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """A success: structured content, its bytes, content items."""

    value: JsonValue
    raw: bytes
    content: tuple[JsonObject, ...] = ()
    meta: Mapping[str, JsonValue] = msgspec.field(default_factory=dict)
    structured: bool = True
    """Whether `value` is structured content of its own, or only stands for the content items."""


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """The handler needs answers from the client before it can go on."""

    questions: Mapping[str, Ask]


Outcome: TypeAlias = Done | Asking | Failure


class AnswersNeeded(Exception):
    """Raised inside a handler by its context, taken out again by the run stage."""

    def __init__(self, questions: Mapping[str, Ask]) -> None:
        super().__init__(len(questions))
        self.questions = questions
