"""Sending recorded calls again, to see whether the answers are still the same.

Only calls that can be sent again without harm are: of tools that are idempotent, recorded with their arguments, and whose
stored arguments are the original ones, not a redacted copy. How a call is sent is the caller's affair.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from strictwire.audit.redact import is_whole
from strictwire.canon.json import JsonObject
from strictwire.stores.files.reading import Entry


class Verdict(StrEnum):
    """How a replayed call compares."""

    SAME = "same"
    DIFFERENT = "different"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A call to send again."""

    seq: int
    tool_name: str
    arguments: JsonObject
    principal: str | None
    role: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the call gave this time: a digest as `audit.event.End` has it, or the code of its failure."""

    result_digest: str | None = None
    error_code: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """One line of the report."""

    seq: int
    tool_name: str
    verdict: Verdict
    reason: str = ""
    """Why it was skipped: not_idempotent, no_arguments, redacted."""
    recorded: Answer | None = None
    answered: Answer | None = None


Reissue: TypeAlias = Callable[[Recorded], Awaitable[Answer]]
"""Sends a call again."""


async def replay_calls(
    entries: Iterable[Entry], *, is_idempotent: Callable[[str], bool], reissue: Reissue
) -> AsyncIterator[Replayed]:
    """Send the recorded calls again, one after another, and compare. Records that are no calls are passed over."""
    for entry in entries:
        record = entry.record
        tool = record.get("tool_name")
        if record.get("kind") != "call" or not isinstance(tool, str):
            continue
        seq, reason = int(record["seq"]), _find_obstacle(record, is_idempotent(tool))
        if reason:
            yield Replayed(seq=seq, tool_name=tool, verdict=Verdict.SKIPPED, reason=reason)
            continue
        before = Answer(result_digest=record.get("result_digest"), error_code=record.get("error_code"))
        now = await reissue(_as_recorded(record))
        verdict = Verdict.SAME if now == before else Verdict.DIFFERENT
        yield Replayed(seq=seq, tool_name=tool, verdict=verdict, recorded=before, answered=now)


def _find_obstacle(record: JsonObject, idempotent: bool) -> str:
    if not idempotent:
        return "not_idempotent"
    arguments: Any = record.get("arguments")
    if not isinstance(arguments, dict):
        return "no_arguments"
    return "" if is_whole(arguments, record.get("args_digest")) else "redacted"


def _as_recorded(record: JsonObject) -> Recorded:
    return Recorded(
        seq=record["seq"],
        tool_name=record["tool_name"],
        arguments=record["arguments"],
        principal=record.get("principal"),
        role=record.get("role"),
    )
