"""A Server in the same process as its client, for the tests of authors: no pipe and no socket, but the whole pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from types import TracebackType

from strictwire.audit.recorder import Recorder
from strictwire.canon.json import JsonValue
from strictwire.client.channel import Callbacks, Channel
from strictwire.client.session import Session, SessionOptions, open_session
from strictwire.pipeline.call import Caller
from strictwire.server.compose import open_runtime
from strictwire.server.served import Served
from strictwire.settings.model import Settings
from strictwire.stores.memory.recorder import MemoryRecorder
from strictwire.transport.memory import MemoryChannel, MemoryConnection, note_raised


@dataclass(frozen=True, slots=True)
class InMemory:
    """A server in this process, as the target of a `Client`: `Client(InMemory(server, raise_handler_errors=True))`.

    The clock and the ids of the server are deterministic; audit records stay in memory.
    """

    server: Served
    raise_handler_errors: bool = False
    """Raise what a handler raised, instead of the failure that a client would get."""
    caller: Caller | None = None
    """Who calls, as the server sees it; None for an anonymous caller."""
    settings: Settings | None = None
    """The settings of the server; None for the defaults."""
    recorder: Recorder | None = None
    """Where audit records go; None for memory."""

    async def open_session(self, options: SessionOptions) -> Session:
        """Start the server and open a session with it. Raises ClientError."""

        async def connect(callbacks: Callbacks) -> Channel:
            stack = AsyncExitStack()
            runtime = await stack.enter_async_context(
                open_runtime(
                    self.server,
                    self.settings or Settings(),
                    deterministic=True,
                    recorder=self.recorder or MemoryRecorder(),
                    on_raise=note_raised if self.raise_handler_errors else None,
                )
            )
            return MemoryChannel(
                runtime.endpoint("mcp"),
                self.caller or Caller(),
                callbacks,
                raises=self.raise_handler_errors,
                on_close=stack.aclose,
            )

        return await open_session(connect, options)


class MemoryClient:
    """A client in the same process that returns raw results. Use `async with`. `Client(server)` returns typed results.

    The clock and the ids of the server are deterministic; audit records stay in memory.
    """

    def __init__(
        self,
        server: Served,
        *,
        capabilities: Mapping[str, JsonValue] | None = None,
        caller: Caller | None = None,
        settings: Settings | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        self._server = server
        self._capabilities = capabilities or {}
        self._caller = caller or Caller()
        self._settings = settings or Settings()
        self.recorder = recorder or MemoryRecorder()
        """Holds the audit records."""
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> MemoryConnection:
        runtime = await self._stack.enter_async_context(
            open_runtime(self._server, self._settings, deterministic=True, recorder=self.recorder)
        )
        connection = MemoryConnection(runtime.endpoint("mcp"), self._caller, capabilities=self._capabilities)
        self._stack.push_async_callback(connection.close)
        return connection

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.__aexit__(kind, exc, trace)
