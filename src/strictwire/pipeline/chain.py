"""The stages in order, and the record before the answer.

    find -> admit -> authorise -> accept -> run -> verify -> render -> record -> answer

The profile brings the function that renders an outcome, because the record holds the answer as it was sent (S8) and must
be durable before the answer leaves (S7). If the record cannot be written, the answer is that failure instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from typing import Final, Generic, Protocol, TypeVar

from strictwire.canon.json import JsonObject
from strictwire.fault.failure import Failure, fail
from strictwire.pipeline.accept import accept
from strictwire.pipeline.admit import admit
from strictwire.pipeline.authorise import Policy, authorise
from strictwire.pipeline.call import Asking, Call, Kind, Operation, Outcome
from strictwire.pipeline.offers import Catalog
from strictwire.pipeline.record import Answered, Entry, Journal
from strictwire.pipeline.run import run, settle
from strictwire.pipeline.verify import verify

_UNKNOWN: Final = {
    Kind.TOOL: "UNKNOWN_TOOL",
    Kind.PROMPT: "UNKNOWN_PROMPT",
    Kind.RESOURCE: "RESOURCE_NOT_FOUND",
    Kind.COMPLETION: "METHOD_NOT_FOUND",
}
"""What a target that is not offered is called."""

Rendered = TypeVar("Rendered", bound=Answered, covariant=True)


class Render(Protocol, Generic[Rendered]):
    """How a profile writes an outcome."""

    def __call__(self, outcome: Outcome, operation: Operation | None) -> Rendered:
        """Pure; called again with another outcome if the first could not be recorded."""


class Pipeline:
    """Performs calls."""

    def __init__(
        self, *, catalog: Catalog, policy: Policy, journal: Journal, executor: Executor, debug_stack: bool = False
    ) -> None:
        self.catalog = catalog
        self.journal = journal
        self.policy = policy
        self.executor = executor
        self._debug_stack = debug_stack

    async def perform(self, call: Call, render: Render[Rendered]) -> Rendered:
        """Run one call through the stages; its answer is recorded before it is returned.

        Raises CancelledError if the call was cancelled; that is recorded too, and there is no answer.
        """
        operation = self.catalog.offers.find(call.kind, call.target)
        entry = self.journal.open(call, operation)
        return await self._conclude(self._decide(operation, call, entry.intend), operation, entry, render)

    async def conclude(
        self, call: Call, operation: Operation, ended: object, started: float, render: Render[Rendered]
    ) -> Rendered:
        """The rest of a call that was admitted, needs no intent, and whose handler has returned or ended (`run.Ended`)."""
        entry = self.journal.open(call, operation, started)
        return await self._conclude(self._settle(operation, call, ended), operation, entry, render)

    async def _conclude(
        self, deciding: Awaitable[Outcome], operation: Operation | None, entry: Entry, render: Render[Rendered]
    ) -> Rendered:
        try:
            outcome = await deciding
        except asyncio.CancelledError:
            await asyncio.shield(entry.close(fail("CANCELLED"), None))
            raise
        rendered = render(outcome, operation)
        unrecorded = await entry.close(outcome, rendered)
        return rendered if unrecorded is None else render(unrecorded, operation)

    async def _decide(
        self, operation: Operation | None, call: Call, intend: Callable[[], Awaitable[Failure | None]]
    ) -> Outcome:
        if operation is None:
            return fail(_UNKNOWN[call.kind], details=_unknown_details(call))
        refused = admit(operation, call)
        if refused is not None:
            return refused
        try:
            refused = authorise(operation, call, self.policy) or accept(operation, call)
            if refused is None and not operation.read_only:
                refused = await intend()
            return refused or await self._run(operation, call)
        finally:
            operation.gate.leave()

    async def _settle(self, operation: Operation, call: Call, ended: object) -> Outcome:
        return _judge(operation, settle(ended, operation, call, debug_stack=self._debug_stack))

    async def _run(self, operation: Operation, call: Call) -> Outcome:
        return _judge(operation, await run(operation, call, self.executor, debug_stack=self._debug_stack))


def _judge(operation: Operation, returned: object) -> Outcome:
    return returned if isinstance(returned, Failure | Asking) else verify(operation, returned)


def _unknown_details(call: Call) -> JsonObject:
    return {"uri": call.target} if call.kind is Kind.RESOURCE else {}
