"""Puts middleware around compiled tools and lists. Calls of a server without middleware never come here."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final, cast

from strictwire.canon.json import JsonObject
from strictwire.contract.conform import Conformer, compile_schema
from strictwire.contract.handler import ABSENT, Answer, CallContext
from strictwire.contract.tool import Caps
from strictwire.fault.failure import Failure, Refused, fail
from strictwire.pipeline.call import Call as PipelineCall
from strictwire.pipeline.call import Done, Kind, Outcome
from strictwire.pipeline.compiled import CompiledTool
from strictwire.pipeline.stages import verify
from strictwire.server.declare.context import Context
from strictwire.server.declare.running import Running, in_thread
from strictwire.server.middleware import (
    Call,
    CallNext,
    CallResult,
    Contract,
    Listing,
    ListNext,
    MiddlewareChain,
    freeze,
    thaw,
)

log = logging.getLogger("strictwire.middleware")

_OBJECTS: Final[JsonObject] = {"type": "array", "items": {"type": "object"}}

_RESULTS: Final[Mapping[Kind, Conformer]] = MappingProxyType(
    {
        kind: compile_schema({"type": "object", "properties": {member: schema}, "required": [member]})
        for kind, member, schema in (
            (Kind.RESOURCE, "contents", _OBJECTS),
            (Kind.PROMPT, "messages", _OBJECTS),
            (Kind.COMPLETION, "completion", {"type": "object"}),
        )
    }
)
"""What a result that middleware makes must look like where no output schema says so."""

_KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "tools/list": "tools",
        "resources/list": "resources",
        "resources/templates/list": "resource templates",
        "prompts/list": "prompts",
    }
)


def wrap_tool(tool: CompiledTool, chain: MiddlewareChain, running: Running) -> CompiledTool:
    """The tool with middleware around its handler, inside its time limit."""

    async def handler(arguments: JsonObject, context: CallContext) -> object:
        return await _WrappedCall(tool, arguments, running.executor).run(chain, Context(context, running.lifespan))

    return replace(tool, handler=handler, is_async=True, verify=_verify)


def _verify(tool: CompiledTool, call: PipelineCall, returned: object) -> Outcome:
    """The verify stage. The result of the function is verified already; one that middleware made is not."""
    if type(returned) is Done:
        return returned
    known = _RESULTS.get(tool.kind)
    if known is not None and not (isinstance(returned, Answer) and known.accepts(cast("Any", returned.structured))):
        log.error("middleware made an invalid result of %s %s", tool.kind.value, tool.name)
        return fail("OUTPUT_INVALID", details={"reason": "middleware"})
    return verify(tool, call, returned)


class _WrappedCall:
    """One call on its way through the middleware."""

    def __init__(self, tool: CompiledTool, arguments: JsonObject, executor: Executor) -> None:
        self._tool = tool
        self._arguments = arguments
        self._executor = executor
        self._call: Call | None = None
        self._known: tuple[CallResult, Done] | None = None
        """The last result of the function, as middleware sees it and as it is sent."""
        self._runs = 0

    async def run(self, chain: MiddlewareChain, context: Context) -> object:
        """Run the middleware and the handler. Returns Done if the result is that of the handler, otherwise an Answer."""
        tool = self._tool
        self._call = Call(
            kind=tool.kind.value,
            name=str(self._arguments["uri"]) if tool.kind is Kind.RESOURCE else tool.name,
            arguments=freeze(self._arguments),
            contract=tool.contract,
            context=context,
        )
        following: CallNext = self._run_handler
        for middleware in reversed(chain.calls):
            following = cast("CallNext", partial(_step, middleware, following))
        result = await following(self._call)
        if self._known is not None and result is self._known[0]:
            return self._known[1]
        content = tuple(thaw(item) for item in result.content)
        structured = result.structured if result.structured is ABSENT else thaw(result.structured)
        return Answer(structured=structured, content=content, meta=thaw(result.meta))

    async def _run_handler(self, call: Call, /) -> CallResult:
        tool, arguments = self._tool, self._checked_arguments(call)
        self._runs += 1
        if self._runs > 1 and not _is_repeatable(tool):
            raise RuntimeError(
                f"middleware called call_next twice for {tool.name}, which is neither read-only nor idempotent"
            )
        context: Any = call.context.call
        if tool.is_async:
            returned = await tool.handler(arguments, context)
        else:
            returned = await in_thread(self._executor, partial(tool.handler, arguments, context))
        done = tool.verify(tool, cast("PipelineCall", None), returned)
        if not isinstance(done, Done):
            raise Refused(done if isinstance(done, Failure) else fail("INTERNAL"))
        structured = freeze(done.value) if done.structured else ABSENT
        result = CallResult(structured=structured, content=freeze(done.content), meta=freeze(done.meta))
        self._known = result, done
        return result

    def _checked_arguments(self, call: Call) -> JsonObject:
        """The arguments for the handler. Raises RuntimeError: middleware passed on something that is no valid call."""
        given = self._call
        if not isinstance(call, Call) or given is None or (call.kind, call.name) != (given.kind, given.name):
            raise RuntimeError("middleware passed another call to call_next; pass the same, or call.with_arguments(...)")
        if call.arguments is given.arguments:
            return self._arguments
        conformer, arguments = self._tool.input, thaw(call.arguments)
        if conformer is None:
            raise RuntimeError(f"middleware cannot replace the arguments of a {call.kind}")
        if not conformer.accepts(arguments):
            violations = [each.as_details() for each in conformer.find_violations(arguments)]
            raise RuntimeError(f"middleware replaced the arguments of {call.name} by invalid ones: {violations}")
        changed: JsonObject = arguments
        return changed


async def _step(middleware: Any, following: CallNext, call: Call) -> CallResult:
    result = await middleware(call, following)
    if not isinstance(result, CallResult):
        name = getattr(middleware, "__name__", type(middleware).__name__)
        raise TypeError(f"middleware {name} returned {type(result).__name__}; return a CallResult")
    return result


def _is_repeatable(tool: CompiledTool) -> bool:
    """Whether the handler may run twice for one record."""
    return tool.read_only or bool(getattr(tool.contract, "annotations", {}).get("idempotentHint"))


class NarrowedList:
    """Lists with middleware: it may leave out entries and change their order, and cannot add any."""

    def __init__(self, chain: MiddlewareChain) -> None:
        self._chain = chain

    async def __call__(
        self, method: str, entries: Sequence[Contract], facts: Mapping[str, str | None]
    ) -> Sequence[Contract] | Failure:
        """The entries of a list for a caller. A Failure if middleware raises, or takes longer than a call may."""
        try:
            async with asyncio.timeout(Caps().timeout_ms / 1000):
                return await self._run(Listing(kind=cast("Any", _KINDS[method]), facts=facts), tuple(entries))
        except TimeoutError:
            return fail("TIMEOUT", details={"timeoutMs": Caps().timeout_ms})
        except Refused as exc:
            return exc.failure
        except Exception:  # whatever the author's function raises: the traceback is for the log alone
            log.exception("middleware around %s raised", method)
            return fail("TOOL_FAILED")

    async def _run(self, listing: Listing, entries: tuple[Contract, ...]) -> Sequence[Contract]:
        async def all_entries(_listing: Listing, /) -> Sequence[Contract]:
            return entries

        following: ListNext = all_entries
        for middleware in reversed(self._chain.lists):
            following = cast("ListNext", partial(_list_step, middleware, following))
        found = list(await following(listing))
        offered = {id(entry) for entry in entries}
        kept = {id(entry) for entry in found}
        if len(kept) != len(found) or not kept <= offered:
            raise RuntimeError("middleware returned an entry twice, or one that call_next did not return")
        return found


async def _list_step(middleware: Any, following: ListNext, listing: Listing) -> Sequence[Contract]:
    found: Sequence[Contract] = await middleware(listing, following)
    return found
