"""The context of a handler in profiles that have one answer and nothing before it: no progress, no questions."""

from __future__ import annotations

from collections.abc import Mapping

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.contract.handler import Ask
from strictwire.fault.failure import Facts
from strictwire.pipeline.call import Caller
from strictwire.pipeline.deadline import Deadline
from strictwire.profiles.mcp.context import check_capabilities


class QuietContext:
    """Keeps diagnostics; these profiles have no place for progress, logs or questions."""

    def __init__(self, caller: Caller, *, transport: str, revision: str) -> None:
        self.facts: Mapping[str, str | None] = {
            "principal": caller.principal,
            "role": caller.role,
            "tier": caller.tier,
            "session": caller.session_id,
            "revision": revision,
            "transport": transport,
        }
        self.diagnostics: list[str] = []
        self.deadline: Deadline | None = None
        """The time limit of the running stage."""
        self.attributed: Facts | None = None

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
