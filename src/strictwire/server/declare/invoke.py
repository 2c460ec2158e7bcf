"""Makes handlers from the author's functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from strictwire.canon.json import JsonObject
from strictwire.contract.handler import CallContext, Handler
from strictwire.server.declare.context import Context
from strictwire.server.declare.inject import Finish, Read, bindable
from strictwire.server.declare.parameters import Parameters
from strictwire.server.declare.refused import place_of


def check_function(function: Callable[..., Any]) -> None:
    """Check that a function can be a handler. Raises DeclarationRefused."""
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise place_of(function).refuse(
            "it is a generator, but a call has one result; return a list, and report steps with Context.progress"
        )


def make_handler(function: Callable[..., Any], read: Read, parameters: Parameters | None, finish: Finish) -> Handler:
    """The handler of a resource, prompt or completion. For a plain function it is plain too, so that it runs in a thread."""
    if parameters is not None and parameters.needs_running:
        return bindable(function, parameters, read, finish)
    context = None if parameters is None else parameters.context

    def invoke(arguments: JsonObject, call: CallContext) -> Any:
        named = read(arguments)
        return function(**named, **{context: Context(call)}) if context is not None else function(**named)

    if inspect.iscoroutinefunction(function):

        async def run_async(arguments: JsonObject, call: CallContext) -> Any:
            return finish(await invoke(arguments, call), arguments)

        return run_async
    return lambda arguments, call: finish(invoke(arguments, call), arguments)
