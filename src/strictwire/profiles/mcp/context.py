"""What a handler sees of its call over MCP, in either era."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Mapping
from itertools import islice
from typing import Final

import msgspec

from strictwire.canon.json import JsonObject, JsonValue, as_json
from strictwire.contract.handler import Ask
from strictwire.fault.failure import Facts, Refused
from strictwire.pipeline.call import AnswersNeeded, Caller
from strictwire.pipeline.deadline import Deadline
from strictwire.profiles.endpoint import Outlet
from strictwire.profiles.mcp.answers import MAX_ASKED, check_capabilities, find_answer_fault, with_reason
from strictwire.wire.envelope import render_notification
from strictwire.wire.names import LEVELS
from strictwire.wire.session import Progress


class Home(msgspec.Struct, frozen=True):
    """Where answers are written: the event loop, and the thread that it runs on."""

    loop: asyncio.AbstractEventLoop
    thread: int

    @classmethod
    def here(cls) -> Home:
        """The running loop."""
        return cls(asyncio.get_running_loop(), threading.get_ident())


class McpContext(msgspec.Struct):
    """Progress, logs and diagnostics; `ask` differs by era and is added below. A struct, for every call makes one."""

    outlet: Outlet
    caller: Caller
    home: Home
    revision: str
    transport: str
    capabilities: Mapping[str, JsonValue]
    """What the client declared it can do."""
    token: str | int | None
    """Names the call in progress notifications; None if the client asked for none."""
    level: str | None
    """The least severe log messages that the client wants."""
    deadline: Deadline | None = None
    """The time limit of the running stage, so that waiting for a person does not use it up."""
    attributed: Facts | None = None
    diagnostics: list[str] = msgspec.field(default_factory=list)
    sent_progress: Progress | None = None
    over: bool = False

    @property
    def facts(self) -> Mapping[str, str | None]:
        """See CallContext."""
        caller = self.caller
        return {
            "principal": caller.principal,
            "tier": caller.tier,
            "revision": self.revision,
            "transport": self.transport,
        }

    def supports(self, capability: str) -> bool:
        """Whether the client declared it."""
        return capability in self.capabilities

    def end(self) -> None:
        """The call is answered or given up: whatever its handler still has to say is not sent."""
        self.over = True

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Sent only to a caller that gave a token, and only forward. Raises ValueError: not a number JSON can carry."""
        if not math.isfinite(progress) or (total is not None and not math.isfinite(total)):
            raise ValueError("progress: expected a finite number")
        if self.token is None:
            return
        self.sent_progress = self.sent_progress or Progress()
        if not self.sent_progress.advances(progress):
            return
        params: JsonObject = {"progressToken": self.token, "progress": progress}
        params |= {name: value for name, value in (("total", total), ("message", message)) if value is not None}
        self.notify("notifications/progress", params)

    def log(self, level: str, data: JsonValue, logger: str | None = None) -> None:
        """Sent only at or above the level that the caller asked for. Raises ValueError: no such level, or no JSON."""
        if level not in LEVELS:
            raise ValueError(f"log level {level!r}: use one of {', '.join(LEVELS)}")
        if self.level is None or LEVELS[level] < LEVELS[self.level]:
            return
        params: JsonObject = {"level": level, "data": as_json(data)[0]}
        if logger is not None:
            params["logger"] = logger
        self.notify("notifications/message", params)

    def diagnose(self, note: str) -> None:
        """Kept for profiles that show diagnostics."""
        self.diagnostics.append(note)

    def attribute(self, facts: Facts) -> None:
        """Kept for the record of the call."""
        self.attributed = facts

    def close_stream(self) -> None:
        """Streams of this era cannot be resumed: they stay open."""

    def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification on this call's own stream, from any thread."""
        message = render_notification(method, params)
        if threading.get_ident() == self.home.thread:
            self._deliver(message)
        else:
            self.home.loop.call_soon_threadsafe(self._deliver, message)

    def _deliver(self, message: bytes) -> None:
        if not self.over:
            self.outlet.send(message)


class ModernContext(McpContext):
    """Questions end the round: the client comes back with the answers and the handler runs again."""

    answers: Mapping[str, JsonObject] = msgspec.field(default_factory=dict)
    """Those that the request carries."""
    asked: Mapping[str, int] = msgspec.field(default_factory=dict)
    """How often each question was put in earlier rounds."""

    async def ask(self, questions: Mapping[str, Ask]) -> Mapping[str, JsonObject]:
        """The answers that the request carries; ends the round if one is missing or not accepted.

        Raises Refused(ANSWER_INVALID): an answer is still not accepted after the last round of its question.
        """
        check_capabilities(questions, self.capabilities)
        open_questions: dict[str, Ask] = {}
        for key, ask in questions.items():
            fault = find_answer_fault(self.answers[key], ask) if key in self.answers else None
            if fault is not None:
                if self.asked.get(key, 0) >= MAX_ASKED[ask.method]:
                    raise Refused(fault)
                open_questions[key] = with_reason(ask, fault)
            elif key not in self.answers:
                open_questions[key] = ask
        if open_questions:
            raise AnswersNeeded(open_questions)
        return {key: self.answers[key] for key in questions}


MAX_CAPABILITIES: Final = 32
"""Capabilities of one client, and members of one capability, that a session remembers. The specification has seven."""

_MAX_CAPABILITY_NAME: Final = 64


def summarise_capabilities(declared: object) -> Mapping[str, JsonValue]:
    """The names of the capabilities that a client declared, and of their members: all that is ever asked about.

    A session lives for hours, and there may be thousands, so none may keep whatever a client sent.
    """
    return {name: dict.fromkeys(_short_names(members), True) for name, members in _short_names(declared).items()}


def _short_names(value: object) -> dict[str, JsonValue]:
    found = islice(value.items(), MAX_CAPABILITIES) if isinstance(value, dict) else ()
    return {name: member for name, member in found if len(name) <= _MAX_CAPABILITY_NAME}
