"""The stages of one call, in order, as plain function calls.

    admit -> authorise -> accept -> intend -> run -> verify -> render -> record -> answer

This is the only path: every transport, every profile, the in-memory client and the guard use it. The caller has already
looked up the tool (in `catalog`, or in the list of an upstream). The profile passes the function that renders an outcome,
because the record holds the failure as it is sent (S8) and is durable before the answer leaves (S7). If the record cannot be
kept, the client gets that failure instead.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import TypeAlias, TypeVar

from strictwire.audit.event import bound_name
from strictwire.fault.failure import Failure, fail
from strictwire.fault.plain import plain
from strictwire.pipeline.call import Asking, Call, Outcome
from strictwire.pipeline.compiled import CompiledTool
from strictwire.pipeline.record import Answered, CallEntry, Journal
from strictwire.pipeline.run import HandlerRunner
from strictwire.pipeline.stages import admit, explain

Rendered = TypeVar("Rendered", bound=Answered)

Render: TypeAlias = Callable[[Outcome, CompiledTool | None], Rendered]
"""How a profile writes an outcome. Pure; called again with another outcome if the first cannot be recorded."""

log = logging.getLogger("strictwire.call")


class Pipeline:
    """Performs calls."""

    def __init__(self, journal: Journal, runner: HandlerRunner) -> None:
        self.journal = journal
        self._runner = runner

    async def perform(
        self,
        call: Call,
        tool: CompiledTool | Failure,
        render: Render[Rendered],
        deliver: Callable[[Rendered], None],
        arrived: float | None = None,
    ) -> None:
        """Run one call through the stages. `deliver` gets the answer once its record is durable, perhaps later than this
        returns. `tool` is a Failure if there is no such tool. `arrived` is the time of the clock when the request
        arrived, if looking up the tool took time; the duration in the record counts from it.

        Raises CancelledError if the call is cancelled; that is recorded too, and there is no answer.
        """
        found = None if isinstance(tool, Failure) else tool
        entry = self.journal.open(call, found, arrived)
        try:
            outcome = tool if isinstance(tool, Failure) else await self._decide(call, tool, entry)
            rendered = render(outcome, found)
        except (asyncio.CancelledError, GeneratorExit):
            self.journal.close(entry, call, fail("CANCELLED"), None, lambda _unrecorded: None)
            raise
        except BaseException as exc:
            # BaseException, because a panic in jsonschema-rs (Rust) raises one that is not an Exception.
            log.exception("a fault of ours in %s %s", call.kind.value, bound_name(call.target))
            outcome = fail("INTERNAL", cause=plain(exc))
            rendered = self._render_fault(entry, call, outcome, partial(render, outcome, found))
        self.journal.close(
            entry,
            call,
            outcome,
            rendered,
            lambda unrecorded: deliver(rendered if unrecorded is None else render(unrecorded, found)),
        )

    def _render_fault(self, entry: CallEntry | None, call: Call, fault: Failure, render: Callable[[], Rendered]) -> Rendered:
        """Render the answer for a bug of ours. If that raises too, record the call without an answer."""
        try:
            return render()
        except BaseException:
            self.journal.close(entry, call, fault, None, lambda _unrecorded: None)
            raise

    async def _decide(self, call: Call, tool: CompiledTool, entry: CallEntry | None) -> Outcome:
        refused = admit(tool, call)
        if refused is not None:
            return explain(tool, call, refused)
        try:
            refused = tool.authorise(tool, call) or tool.accept(tool, call)
            if refused is None and not tool.read_only:
                refused = await self.journal.intend(entry)
            if refused is not None:
                return explain(tool, call, refused)
            returned = await self._runner.run(tool, call)
        finally:
            tool.limit.leave()
        return returned if isinstance(returned, Failure | Asking) else tool.verify(tool, call, returned)
