"""The context of a handler in profiles that have one answer and nothing before it: no progress, no questions."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.contract.handler import Ask
from strictwire.fault.failure import Facts
from strictwire.pipeline.call import Caller
from strictwire.pipeline.deadline import Deadline
from strictwire.profiles.mcp.answers import check_capabilities


class QuietContext(msgspec.Struct, kw_only=True):
    """Keeps diagnostics. These profiles have no place for progress, logs or questions. A struct: every call makes one."""

    caller: Caller
    transport: str
    revision: str
    diagnostics: list[str] = msgspec.field(default_factory=list)
    deadline: Deadline | None = None
    """The time limit of the running stage."""
    attributed: Facts | None = None

    @property
    def facts(self) -> Mapping[str, str | None]:
        """See CallContext."""
        return {
            "principal": self.caller.principal,
            "role": self.caller.role,
            "tier": self.caller.tier,
            "session": self.caller.session_id,
            "revision": self.revision,
            "transport": self.transport,
        }

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Dropped: no client of these profiles can ask for it."""

    def log(self, level: str, data: JsonValue, logger: str | None = None) -> None:
        """Dropped: no client of these profiles can ask for it."""

    def diagnose(self, note: str) -> None:
        """Kept for a profile that shows diagnostics."""
        self.diagnostics.append(note)

    def attribute(self, facts: Facts) -> None:
        """Kept for the record of the call."""
        self.attributed = facts

    def close_stream(self) -> None:
        """There is no stream."""

    async def ask(self, questions: Mapping[str, Ask]) -> Mapping[str, JsonObject]:
        """Raises Refused(MISSING_CAPABILITY): no client of these profiles can answer questions."""
        check_capabilities(questions, {})
        return {}
