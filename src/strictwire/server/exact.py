"""Serves Context Resolve v0 byte for byte: over stdio, one call at a time, with an audit record for each call."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from strictwire.audit import event
from strictwire.canon.digest import digest, digest_bytes
from strictwire.canon.json import JsonObject, NotStrict, parse
from strictwire.fault.failure import Failure, fail
from strictwire.packs.context.exact import MAX_LINE, ExactSurface
from strictwire.packs.context.library import Library
from strictwire.pipeline.record import Journal
from strictwire.profiles.endpoint import Deliver, Inbound, Outlet, Reply

PROFILE: Final = "context/v0"
ROOT_VARIABLE: Final = "CONTEXT_CACHE_ROOT"
TIMEOUT_VARIABLE: Final = "CONTEXT_TOOL_TIMEOUT_SECS"
DEFAULT_TIMEOUT: Final = "30"


def open_surface(environment: Mapping[str, str], settings: Mapping[str, Any]) -> ExactSurface:
    """Open the caches that the environment variables of v0 or `[packs.context]` name. Raises ValueError."""
    root = environment.get(ROOT_VARIABLE) or settings.get("root")
    if not isinstance(root, str) or not root:
        raise ValueError(f"no cache folder: set {ROOT_VARIABLE}, or root in [packs.context], to the folder with the caches")
    seconds = environment.get(TIMEOUT_VARIABLE, DEFAULT_TIMEOUT)
    if not (seconds.isascii() and seconds.isdecimal()):
        raise ValueError(f"{TIMEOUT_VARIABLE}: expected an integer, the time limit of a tool in seconds")
    return ExactSurface(Library(root), timeout=float(seconds))


class ExactEndpoint:
    """The endpoint of Context Resolve v0, for stdio only. The protocol is frozen."""

    max_line: Final = MAX_LINE
    answers_in: Final = ("application/json",)

    def __init__(self, surface: ExactSurface, journal: Journal) -> None:
        self._surface = surface
        self._journal = journal
        self._one_at_a_time = asyncio.Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="strictwire-exact")

    async def serve(self, inbound: Inbound, outlet: Outlet, deliver: Deliver) -> None:  # noqa: ARG002 - no interim messages
        """Answer one line after all earlier lines. The audit record is durable before the answer is sent."""
        async with self._one_at_a_time:
            loop = asyncio.get_running_loop()
            answer = await loop.run_in_executor(self._thread, self._surface.answer_line, inbound.body)
            unrecorded = await self._record(inbound, answer)
        deliver(Reply(body=self._surface.refuse_call(inbound.body, unrecorded) if unrecorded else answer))

    async def _record(self, inbound: Inbound, answer: bytes | None) -> Failure | None:
        """Record a tool call. Returns the failure if the record cannot be written."""
        params = _call_params(inbound.body)
        if params is None or answer is None:
            return None
        name, arguments = params.get("name"), params.get("arguments")
        call = event.Call(
            timestamp=self._journal.clock.timestamp(),
            principal=inbound.caller.principal,
            transport=inbound.transport,
            profile=PROFILE,
            method="tools/call",
            tool_name=name if isinstance(name, str) else None,
            args_digest=digest(arguments),
            result_digest=digest_bytes(answer),
        )
        return await self._journal.record(call)

    def cancels_on_disconnect(self, inbound: Inbound) -> bool:  # noqa: ARG002 - v0 has no cancellation
        """False: v0 has no cancellation."""
        return False

    def refuse_oversized(self, inbound: Inbound) -> Reply:  # noqa: ARG002 - every such line has the same answer
        """The answer to a line above the size limit."""
        return Reply(body=self._surface.refuse_line())

    def refuse_fault(self, inbound: Inbound) -> Reply:
        """The answer after an internal error: `internal_error`."""
        return Reply(body=self._surface.refuse_call(inbound.body, fail("INTERNAL")))

    def end_input(self) -> None:
        """Nothing to do: no call waits for input."""

    async def close(self) -> None:
        """Stop the thread."""
        self._thread.shutdown(wait=False)


def _call_params(raw: bytes) -> JsonObject | None:
    try:
        message = parse(raw)
    except NotStrict:
        return None
    if not isinstance(message, dict) or message.get("method") != "tools/call":
        return None
    params = message.get("params")
    return params if isinstance(params, dict) else {}
