"""Sends recorded calls again and compares the results.

Only calls that can be repeated without harm are sent: of idempotent tools, recorded with their arguments, and whose stored
arguments are the original ones, not a redacted copy. How a call is sent is up to the caller.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from strictwire.audit.redact import is_whole
from strictwire.canon.json import JsonObject
from strictwire.stores.records import StoredRecord


class Comparison(StrEnum):
    """How the result of a replayed call compares with the recorded one."""

    SAME = "same"
    DIFFERENT = "different"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """A call to send again."""

    seq: int
    tool_name: str
    arguments: JsonObject
    principal: str | None
    role: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """The digest of a result, as in `audit.event.End`, or the code of a failure."""

    result_digest: str | None = None
    error_code: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedCall:
    """One line of the report."""

    seq: int
    tool_name: str
    comparison: Comparison
    reason: str = ""
    """Why it was skipped: not_idempotent, no_arguments, redacted."""
    recorded: CallResult | None = None
    repeated: CallResult | None = None


Reissue: TypeAlias = Callable[[RecordedCall], Awaitable[CallResult]]
"""Sends a call again."""


async def replay_calls(
    records: Iterable[StoredRecord], *, is_idempotent: Callable[[str], bool], reissue: Reissue
) -> AsyncIterator[ReplayedCall]:
    """Send the recorded calls again, one after another, and compare. Records of other kinds are skipped."""
    for stored in records:
        record = stored.record
        tool = record.get("tool_name")
        if record.get("kind") != "call" or not isinstance(tool, str):
            continue
        seq, reason = int(record["seq"]), _find_obstacle(record, idempotent=is_idempotent(tool))
        if reason:
            yield ReplayedCall(seq=seq, tool_name=tool, comparison=Comparison.SKIPPED, reason=reason)
            continue
        before = CallResult(result_digest=record.get("result_digest"), error_code=record.get("error_code"))
        now = await reissue(_as_call(record))
        comparison = Comparison.SAME if now == before else Comparison.DIFFERENT
        yield ReplayedCall(seq=seq, tool_name=tool, comparison=comparison, recorded=before, repeated=now)


def _find_obstacle(record: JsonObject, *, idempotent: bool) -> str:
    if not idempotent:
        return "not_idempotent"
    arguments: Any = record.get("arguments")
    if not isinstance(arguments, dict):
        return "no_arguments"
    return "" if is_whole(arguments, record.get("args_digest")) else "redacted"


def _as_call(record: JsonObject) -> RecordedCall:
    return RecordedCall(
        seq=record["seq"],
        tool_name=record["tool_name"],
        arguments=record["arguments"],
        principal=record.get("principal"),
        role=record.get("role"),
    )
