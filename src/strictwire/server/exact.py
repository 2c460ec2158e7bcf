"""Context Resolve v0 to the byte: one stdio process, calls strictly one after another, each in the audit trail."""

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
    """The surface, as the variables of Context Resolve v0 or `[packs.context]` say. Raises ValueError."""
    root = environment.get(ROOT_VARIABLE) or settings.get("root")
    if not isinstance(root, str) or not root:
        raise ValueError(f"set {ROOT_VARIABLE}, or root in [packs.context], to the folder that holds the caches")
    seconds = environment.get(TIMEOUT_VARIABLE, DEFAULT_TIMEOUT)
    if not (seconds.isascii() and seconds.isdecimal()):
        raise ValueError(f"{TIMEOUT_VARIABLE}: expected a whole number of seconds")
    return ExactSurface(Library(root), timeout=float(seconds))


class ExactEndpoint:
    """Speaks the frozen surface of Context Resolve v0. An `Endpoint` for stdio alone."""

    max_line: Final = MAX_LINE
    answers_in: Final = ("application/json",)

    def __init__(self, surface: ExactSurface, journal: Journal) -> None:
        self._surface = surface
        self._journal = journal
        self._turn = asyncio.Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="strictwire-exact")

    async def serve(self, inbound: Inbound, outlet: Outlet, deliver: Deliver) -> None:  # noqa: ARG002 - no interim messages
        """Answer one line when its turn has come; its record is durable before the answer leaves."""
        async with self._turn:
            loop = asyncio.get_running_loop()
            answer = await loop.run_in_executor(self._thread, self._surface.answer_line, inbound.body)
            unrecorded = await self._record(inbound, answer)
        deliver(Reply(body=self._surface.refuse_call(inbound.body, unrecorded) if unrecorded else answer))

    async def _record(self, inbound: Inbound, answer: bytes | None) -> Failure | None:
        """Record a tool call; the failure if that could not be done."""
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
        """There is none."""
        return False

    def refuse_oversized(self, inbound: Inbound) -> Reply:  # noqa: ARG002 - every such line has the same answer
        """A line past the limit."""
        return Reply(body=self._surface.refuse_line())

    def refuse_fault(self, inbound: Inbound) -> Reply:
        """A fault of ours is `internal_error` here."""
        return Reply(body=self._surface.refuse_call(inbound.body, fail("INTERNAL")))

    def end_input(self) -> None:
        """Nothing waits for input."""

    async def close(self) -> None:
        """Let the thread go."""
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
