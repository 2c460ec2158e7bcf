"""From calls and outcomes to audit records: what is written before an answer leaves."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Protocol

import msgspec

from strictwire.audit import event
from strictwire.audit.recorder import Recorder
from strictwire.canon.digest import digest, digest_bytes
from strictwire.canon.json import JsonValue
from strictwire.fault.catalogue import Stage
from strictwire.fault.failure import Facts, Failure
from strictwire.pipeline.call import Call, Done, Kind, Operation, Outcome
from strictwire.pipeline.clock import Clock

_BEFORE_RUN = frozenset({Stage.DECODE, Stage.ENVELOPE, Stage.ROUTE, Stage.ADMIT, Stage.AUTHORISE, Stage.ACCEPT})


class Answered(Protocol):
    """What the journal needs to know of a rendered answer."""

    @property
    def envelope(self) -> JsonValue:
        """The failure as it is sent; None for a success."""


def facts_of(call: Call, clock: Clock) -> Facts:
    """What a dialect may know of the call. `phase_id` and `plan_hash` are preserved as the caller gave them (S9)."""
    known = call.trace.facts or call.context.attributed or Facts()
    return Facts(
        tool=call.target,
        timestamp=clock.timestamp(),
        role=known.role or call.caller.role,
        session_id=known.session_id or call.caller.session_id,
        workspace_root=known.workspace_root,
        phase_id=known.phase_id or _text(call.arguments.get("phase_id")),
        plan_hash=known.plan_hash or _text(call.arguments.get("plan_hash")),
        revision=call.revision,
        stack_trace=call.trace.stack,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """Opens an entry for every call."""

    recorder: Recorder
    clock: Clock
    policy_version: str = "none"

    def open(self, call: Call, operation: Operation | None, started: float | None = None) -> Entry:
        """The entry of one call, which began now or at another time of the clock."""
        return Entry(self, call, operation, self.clock.elapsed() if started is None else started)

    def count_malformed(self, kind: str) -> None:
        """Something that never became a call."""
        self.recorder.count_malformed(kind)

    async def refuse(self, failure: Failure, *, transport: str, profile: str, method: str | None, principal: str) -> Failure:
        """Record a refusal of something readable that is no call: an unknown method, a header that differs.

        Returns the failure to answer with: the one given, or that of the record if it could not be kept (S7).
        """
        origin = event.Origin(transport=transport, profile=profile, method=method, principal=principal)
        end = event.End(duration_us=0, error_code=failure.code, invariant_id=failure.invariant_id)
        refusal = event.Refusal(timestamp=self.clock.timestamp(), stage=failure.stage.value, origin=origin, end=end)
        return await self.recorder.record(refusal) or failure


class Entry:
    """The records of one call."""

    __slots__ = ("_arguments", "_call", "_intended", "_journal", "_operation", "_origin", "_started")

    def __init__(self, journal: Journal, call: Call, operation: Operation | None, started: float) -> None:
        self._journal = journal
        self._call = call
        self._operation = operation
        self._started = started
        # Both now: a handler may change the arguments that it is given, and the record holds those that came.
        self._origin = self._make_origin()
        self._arguments = deepcopy(call.arguments) if journal.recorder.keeps_values else None
        self._intended = False

    async def intend(self) -> Failure | None:
        """Record that a call which may change something is about to run."""
        self._intended = True
        intent = event.Intent(timestamp=self._journal.clock.timestamp(), origin=self._origin, arguments=self._arguments)
        return await self._journal.recorder.record(intent)

    async def close(self, outcome: Outcome, answered: Answered | None) -> Failure | None:
        """Record how it ended; a Failure if that could not be kept."""
        return await self._journal.recorder.record(self._ended(outcome, answered))

    def _ended(self, outcome: Outcome, answered: Answered | None) -> event.Event:
        now, end = self._journal.clock.timestamp(), self._end(outcome, answered)
        origin, arguments = self._attributed(), self._arguments
        if self._intended:
            return event.Outcome(timestamp=now, origin=origin, end=end, result=_result(outcome))
        if isinstance(outcome, Failure) and outcome.stage in _BEFORE_RUN:
            stage = outcome.stage.value
            return event.Refusal(timestamp=now, stage=stage, origin=origin, end=end, arguments=arguments)
        return event.Call(timestamp=now, origin=origin, end=end, arguments=arguments, result=_result(outcome))

    def _attributed(self) -> event.Origin:
        """The origin with what the handler came to know: it is asked again, for an intent was written before it ran."""
        origin, known = self._origin, self._call.trace.facts or self._call.context.attributed
        if known is None:
            return origin
        return msgspec.structs.replace(
            origin,
            role=known.role or origin.role,
            session_id=known.session_id or origin.session_id,
            plan_hash=known.plan_hash or origin.plan_hash,
            phase_id=known.phase_id or origin.phase_id,
            workspace_root=known.workspace_root,
        )

    def _make_origin(self) -> event.Origin:
        call, operation = self._call, self._operation
        tool = operation if call.kind is Kind.TOOL else None
        return event.Origin(
            call_id=None if tool is None or tool.read_only else self._journal.clock.next_id(),
            principal=call.caller.principal,
            role=call.caller.role,
            session_id=call.caller.session_id,
            transport=call.transport,
            profile=call.profile,
            method=call.method,
            tool_name=call.target,
            contract=None if tool is None else tool.fingerprint,
            policy=self._journal.policy_version,
            args_digest=digest(call.arguments),
            plan_hash=_text(call.arguments.get("plan_hash")),
            phase_id=_text(call.arguments.get("phase_id")),
        )

    def _end(self, outcome: Outcome, answered: Answered | None) -> event.End:
        micros = int((self._journal.clock.elapsed() - self._started) * 1_000_000)
        if isinstance(outcome, Failure):
            return event.End(
                duration_us=micros,
                error_code=outcome.code,
                invariant_id=outcome.invariant_id,
                cause=outcome.cause,
                envelope=None if answered is None else answered.envelope,
            )
        result = digest_bytes(outcome.raw) if isinstance(outcome, Done) else None
        return event.End(duration_us=micros, result_digest=result)


def _result(outcome: Outcome) -> JsonValue:
    return outcome.value if isinstance(outcome, Done) else None
