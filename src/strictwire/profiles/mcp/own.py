"""The backend that serves our own catalogue."""

from __future__ import annotations

from typing import Final

from strictwire.fault.failure import Failure
from strictwire.profiles.endpoint import Reply
from strictwire.profiles.mcp.core import Core
from strictwire.profiles.mcp.exchange import Exchange, Session
from strictwire.profiles.mcp.legacy import LegacySession
from strictwire.profiles.mcp.modern import Modern
from strictwire.profiles.mcp.quota import fair_limits
from strictwire.profiles.mcp.tasks.service import Tasks
from strictwire.wire.revisions import negotiate_legacy

MAX_SESSIONS: Final = 10_000
"""Legacy sessions kept at once over HTTP."""


class OwnBackend:
    """See Backend."""

    session_limits = fair_limits(MAX_SESSIONS)

    def __init__(self, core: Core, *, task_prefix: str = "") -> None:
        self.journal = core.pipeline.journal
        self._core = core
        self._tasks = Tasks(core, prefix=task_prefix)
        self.serve = Modern(core, self._tasks).serve

    async def open_session(self, exchange: Exchange, session_id: str | None) -> Session | Reply | Failure:
        """See Backend."""
        revision = negotiate_legacy((exchange.request.params or {}).get("protocolVersion"))
        return LegacySession(self._core, exchange, session_id=session_id, revision=revision)

    def end_input(self) -> None:
        """See Backend."""
        self._core.catalog.announce("closing")

    async def close(self) -> None:
        """See Backend. Running tasks end."""
        self._core.catalog.announce("closing")
        await self._tasks.close()
