"""`MemoryClient`: calls a Server in memory, through the whole pipeline. For the tests of authors."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from types import TracebackType

from strictwire.audit.recorder import Recorder
from strictwire.canon.json import JsonValue
from strictwire.pipeline.call import Caller
from strictwire.server.compose import open_runtime
from strictwire.server.served import Served
from strictwire.settings.model import Settings
from strictwire.stores.memory.recorder import MemoryRecorder
from strictwire.transport.memory import MemoryConnection


class MemoryClient:
    """A client in the same process. Use `async with`. Clock and ids are deterministic; audit records stay in memory."""

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
