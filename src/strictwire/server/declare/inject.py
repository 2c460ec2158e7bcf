"""Handlers of functions that need values of the running server: its lifespan, or dependencies.

Such a handler is declared once and bound when the server runs (`BindableHandler.bind`), so that a call looks nothing up.
Functions that need neither have plain handlers and never come here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack
from functools import partial
from typing import Any, TypeAlias

from strictwire.canon.json import JsonObject
from strictwire.contract.handler import CallContext, Handler
from strictwire.server.declare.context import Context
from strictwire.server.declare.depends import NEEDS_LOOP, Dependency, in_order
from strictwire.server.declare.parameters import Parameters
from strictwire.server.declare.running import Running, in_thread, provide, provide_here

Read: TypeAlias = Callable[[JsonObject], dict[str, Any]]
"""Makes the keyword arguments of the author's function from the arguments of a call."""

Finish: TypeAlias = Callable[[Any, JsonObject], Any]
"""Makes the result of the handler from the return value and the arguments of the call."""


class BindableHandler:
    """A handler that can be called once it is bound to a running server."""

    __slots__ = ("bind", "opened_at_start")

    def __init__(self, bind: Callable[[Running], Handler], dependencies: tuple[Dependency, ...]) -> None:
        self.bind = bind
        """Makes the handler that calls run."""
        self.opened_at_start = tuple(each for each in dependencies if each.scope == "server")
        """Its server-scoped dependencies."""

    def __call__(self, _arguments: JsonObject, _call: CallContext) -> Any:
        """Raises RuntimeError: it is not bound."""
        raise RuntimeError("the handler is not bound to a running server")


def bindable(function: Callable[..., Any], parameters: Parameters, read: Read, finish: Finish) -> BindableHandler:
    """The handler of a function whose parameters need values of the running server."""
    order = in_order(parameters.injected.values())

    def bind(running: Running) -> Handler:
        return _Injection(function, parameters, order, read, finish, running).handler()

    return BindableHandler(bind, order)


class _Injection:
    """A function bound to a running server."""

    def __init__(
        self,
        function: Callable[..., Any],
        parameters: Parameters,
        order: tuple[Dependency, ...],
        read: Read,
        finish: Finish,
        running: Running,
    ) -> None:
        self._function, self._read, self._finish, self._running = function, read, finish, running
        self._context = parameters.context
        self._injected = {name: each.key for name, each in parameters.injected.items()}
        self._per_call = tuple(each for each in order if each.scope == "call")
        self._late = tuple(each for each in order if each.scope == "server" and each.key not in running.values)
        """Server-scoped dependencies of a function that was declared after the server started."""

    def handler(self) -> Handler:
        """The handler. It is plain if nothing needs the event loop; then everything runs on the thread of the call."""
        if inspect.iscoroutinefunction(self._function):
            return self._run_coroutine if self._late or self._per_call else self._run_coroutine_alone
        if self._late or any(each.style in NEEDS_LOOP for each in self._per_call):
            return self._run_function_async
        return self._run_function

    def _run_function(self, arguments: JsonObject, call: CallContext) -> Any:
        named = self._read(arguments)
        with ExitStack() as stack:
            values, context = dict(self._running.values), Context(call, self._running.lifespan)
            for each in self._per_call:
                values[each.key] = provide_here(each, each.arguments(values, context), stack.enter_context)
            return self._finish(self._function(**named, **self._own(values, context)), arguments)
        raise self._swallowed()

    async def _run_function_async(self, arguments: JsonObject, call: CallContext) -> Any:
        named = self._read(arguments)
        async with AsyncExitStack() as stack:
            own = await self._provide(call, stack)
            return self._finish(await in_thread(self._running.executor, partial(self._function, **named, **own)), arguments)
        raise self._swallowed()

    async def _run_coroutine(self, arguments: JsonObject, call: CallContext) -> Any:
        named = self._read(arguments)
        async with AsyncExitStack() as stack:
            own = await self._provide(call, stack)
            return self._finish(await self._function(**named, **own), arguments)
        raise self._swallowed()

    async def _run_coroutine_alone(self, arguments: JsonObject, call: CallContext) -> Any:
        own = self._own(self._running.values, Context(call, self._running.lifespan))
        return self._finish(await self._function(**self._read(arguments), **own), arguments)

    async def _provide(self, call: CallContext, stack: AsyncExitStack) -> dict[str, Any]:
        running, context = self._running, Context[Any](call, self._running.lifespan)
        for late in self._late:
            await running.open(late)
        values = dict(running.values)
        for each in self._per_call:
            values[each.key] = await provide(each, each.arguments(values, context), stack, running.executor)
        return self._own(values, context)

    def _own(self, values: dict[object, Any], context: Context) -> dict[str, Any]:
        own = {name: values[key] for name, key in self._injected.items()}
        return own if self._context is None else {**own, self._context: context}

    def _swallowed(self) -> RuntimeError:
        """The error for a clean-up that ends an exception of the function, which then has no result."""
        return RuntimeError(f"a dependency of {self._function!r} caught its exception; raise it again after the clean-up")
