"""The values that pass through the stages.

Those that every call makes are msgspec structs: frozen like dataclasses, and six times as fast to make.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Final, Protocol, TypeAlias

import msgspec

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.contract.handler import Ask, CallContext
from strictwire.fault.failure import Facts, Failure
from strictwire.pipeline.deadline import Deadline


class Kind(StrEnum):
    """What is called."""

    TOOL = "tool"
    RESOURCE = "resource"
    PROMPT = "prompt"
    COMPLETION = "completion"


COMPLETION: Final = "completion/complete"
"""The one name under which completion is offered."""


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Who calls, as far as the transport could establish it."""

    principal: str = "local"
    role: str | None = None
    tier: str = "core"
    session_id: str | None = None


class RunningContext(CallContext, Protocol):
    """A handler's context as the stages see it."""

    deadline: Deadline | None
    """Set by the run stage, so that a question to the client does not use up the tool's time."""
    attributed: Facts | None
    """What the handler reported about the call (`CallContext.attribute`)."""


class Trace(msgspec.Struct, kw_only=True):
    """What the run stage learns about a failure besides the failure itself."""

    facts: Facts | None = None
    """Facts that the handler knew: its session, its workspace."""
    stack: str | None = None
    """The stack trace; only with DEBUG_STACK."""


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
    capabilities: Collection[str] = ()
    """What the client declared it can do."""
    trace: Trace = msgspec.field(default_factory=Trace)


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """A success: structured content, its bytes, content items."""

    value: JsonValue
    raw: bytes
    content: tuple[JsonObject, ...] = ()
    meta: Mapping[str, JsonValue] = msgspec.field(default_factory=dict)
    structured: bool = True
    """Whether `value` is structured content; False if it only stands for the content items."""


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """The handler needs answers from the client before it can continue."""

    questions: Mapping[str, Ask]


Outcome: TypeAlias = Done | Asking | Failure


class AnswersNeeded(Exception):
    """Raised inside a handler by its context, caught by the run stage."""

    def __init__(self, questions: Mapping[str, Ask]) -> None:
        super().__init__(len(questions))
        self.questions = questions
