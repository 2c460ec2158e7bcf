"""Makes handlers from the author's functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeAlias

from strictwire.canon.json import JsonObject
from strictwire.contract.handler import CallContext, Handler
from strictwire.server.context import Context
from strictwire.server.declare.refused import place_of

Read: TypeAlias = Callable[[JsonObject], dict[str, Any]]
"""Makes the keyword arguments of the author's function from the arguments of a call."""

Finish: TypeAlias = Callable[[Any, JsonObject], Any]
"""Makes the result of the handler from the return value and the arguments of the call."""


def check_function(function: Callable[..., Any]) -> None:
    """Check that a function can be a handler. Raises DeclarationRefused."""
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise place_of(function).refuse(
            "it is a generator, but a call has one result; return a list, and report steps with Context.progress"
        )


def make_handler(function: Callable[..., Any], read: Read, context: str | None, finish: Finish) -> Handler:
    """The handler of a resource, prompt or completion. For a plain function it is plain too, so that it runs in a thread."""

    def invoke(arguments: JsonObject, call: CallContext) -> Any:
        named = read(arguments)
        return function(**named, **{context: Context(call)}) if context is not None else function(**named)

    if inspect.iscoroutinefunction(function):

        async def run_async(arguments: JsonObject, call: CallContext) -> Any:
            return finish(await invoke(arguments, call), arguments)

        return run_async
    return lambda arguments, call: finish(invoke(arguments, call), arguments)
