"""From calls and outcomes to audit records: what is durable before an answer leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import msgspec
from msgspec import UNSET, structs

from strictwire.audit import event
from strictwire.audit.event import render_body
from strictwire.audit.recorder import Done as Recorded
from strictwire.audit.recorder import Recorder
from strictwire.canon.digest import digest, digest_bytes
from strictwire.canon.json import JsonValue
from strictwire.fault.catalogue import Stage
from strictwire.fault.failure import Facts, Failure
from strictwire.pipeline.call import Call, Caller, Done, Kind, Outcome
from strictwire.pipeline.clock import Clock
from strictwire.pipeline.compiled import CompiledTool
from strictwire.pipeline.write_batch import WriteBatch

_BEFORE_RUN = frozenset({Stage.DECODE, Stage.ENVELOPE, Stage.ROUTE, Stage.ADMIT, Stage.AUTHORISE, Stage.ACCEPT})


class Answered(Protocol):
    """What the journal needs to know about a rendered answer."""

    @property
    def body(self) -> bytes | None:
        """What is sent."""

    @property
    def envelope(self) -> JsonValue:
        """The failure inside, as it is sent; None for a success."""


def facts_of(call: Call, clock: Clock) -> Facts:
    """What a dialect may know about the call. `phase_id` and `plan_hash` are preserved as the caller gave them (S9)."""
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


class CallEntry(msgspec.Struct, gc=False):
    """A call between its start and its record."""

    started: float
    record: event.Call
    """What is known at the start. A handler may change the arguments that it is given, so they are digested before."""
    is_intended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """Makes the records of calls and adds them to the batch."""

    recorder: Recorder
    batch: WriteBatch
    clock: Clock
    policy_version: str = "none"

    def open(self, call: Call, tool: CompiledTool | None, arrived: float | None = None) -> CallEntry | None:
        """The entry of a call that begins now, or that arrived earlier; None where nothing is kept."""
        if not self.recorder.keeps:
            return None
        arguments, caller, is_tool = call.arguments, call.caller, tool is not None and call.kind is Kind.TOOL
        record = event.Call(
            timestamp="",
            call_id=None if tool is None or not is_tool or tool.read_only else self.clock.next_id(),
            principal=caller.principal,
            role=caller.role,
            session_id=caller.session_id,
            transport=call.transport,
            profile=call.profile,
            method=call.method,
            tool_name=call.target,
            contract=tool.fingerprint if tool is not None and is_tool else None,
            policy=self.policy_version,
            args_digest=digest(arguments),
            plan_hash=_text(arguments["plan_hash"]) if "plan_hash" in arguments else None,
            phase_id=_text(arguments["phase_id"]) if "phase_id" in arguments else None,
            upstream=tool.upstream if tool is not None and tool.upstream else UNSET,
            arguments=deepcopy(arguments) if self.recorder.keeps_values else UNSET,
        )
        return CallEntry(self.clock.elapsed() if arrived is None else arrived, record)

    async def intend(self, entry: CallEntry | None) -> Failure | None:
        """Record that a call which may change something is about to run; a Failure if that cannot be kept."""
        if entry is None:
            return None
        entry.is_intended = True
        return await self.record(_as(event.Intent, entry.record, timestamp=self.clock.timestamp()))

    def close(
        self, entry: CallEntry | None, call: Call, outcome: Outcome, answered: Answered | None, recorded: Recorded
    ) -> None:
        """Record how a call ended, then call `recorded`: with a Failure if the record cannot be kept."""
        if entry is None:
            recorded(None)
            return
        ended = structs.replace(
            entry.record,
            timestamp=self.clock.timestamp(),
            duration_us=int((self.clock.elapsed() - entry.started) * 1_000_000),
            result_digest=digest_bytes(outcome.raw) if type(outcome) is Done else None,
        )
        known = call.trace.facts or call.context.attributed
        if known is not None or type(outcome) is not Done or entry.is_intended or self.recorder.keeps_values:
            body = render_body(_complete(ended, entry, outcome, answered, known, keeps_values=self.recorder.keeps_values))
        else:
            body = render_body(ended)
        size = 0 if answered is None or answered.body is None else len(answered.body)
        self.batch.add_record(body, recorded, answer_bytes=size)

    def refuse(
        self,
        failure: Failure,
        *,
        transport: str,
        profile: str,
        method: str | None,
        caller: Caller,
        answer: Callable[[Failure], None],
    ) -> None:
        """Record the refusal of something readable that is no call: an unknown method, a header that differs.

        `answer` gets the failure to answer with: the one given, or that of the record if it cannot be kept (S7).
        """
        if not self.recorder.keeps:
            answer(failure)
            return
        refusal = event.Refusal(
            timestamp=self.clock.timestamp(),
            transport=transport,
            profile=profile,
            method=method,
            principal=caller.principal,
            role=caller.role,
            session_id=caller.session_id,
            stage=failure.stage.value,
            outcome="error",
            error_code=failure.code,
            invariant_id=failure.invariant_id,
        )
        self.batch.add_record(render_body(refusal), lambda unrecorded: answer(unrecorded or failure))

    async def record(self, record: event.Event) -> Failure | None:
        """Commit a record and wait for it; a Failure if it cannot be kept."""
        if not self.recorder.keeps:
            return None
        recorded: asyncio.Future[Failure | None] = asyncio.get_running_loop().create_future()
        self.batch.add_record(render_body(record), lambda failure: None if recorded.done() else recorded.set_result(failure))
        return await recorded

    def count_malformed(self, kind: str) -> None:
        """Count input that never became a call."""
        self.recorder.count_malformed(kind)


def _complete(
    record: event.Call,
    entry: CallEntry,
    outcome: Outcome,
    answered: Answered | None,
    known: Facts | None,
    *,
    keeps_values: bool,
) -> event.Call | event.Outcome | event.Refusal:
    """A record that is not of a plain success: what the handler found out, how it failed, what it returned."""
    changes: dict[str, Any] = {} if known is None else _found_out(known)
    kind: type[event.Call | event.Outcome | event.Refusal] = event.Outcome if entry.is_intended else event.Call
    if isinstance(outcome, Failure):
        sent = None if answered is None else sent_code(answered.envelope)
        changes |= {"outcome": "error", "error_code": sent or outcome.shown_code, "invariant_id": outcome.invariant_id}
        changes["cause"] = outcome.cause
        if sent is not None and sent != outcome.code:
            changes["failure_code"] = outcome.code
        if answered is not None and answered.envelope is not None:
            changes["envelope"] = answered.envelope
        if outcome.stage in _BEFORE_RUN and not entry.is_intended:
            kind, changes["stage"] = event.Refusal, outcome.stage.value
    elif keeps_values and type(outcome) is Done and outcome.value is not None:
        changes["result"] = outcome.value
    if entry.is_intended:
        changes["arguments"] = UNSET  # the intent holds them
    return _as(kind, record, **changes)


def sent_code(envelope: JsonValue) -> str | None:
    """The code in a failure as it is sent, in any dialect; None if it has only a number of JSON-RPC."""
    for place in (("error_code",), ("data", "code"), ("error", "code"), ("code",)):
        found = envelope
        for name in place:
            found = found.get(name) if isinstance(found, dict) else None
        if isinstance(found, str):
            return found
    return None


def _found_out(known: Facts) -> dict[str, Any]:
    """What a handler reported about its call. An intent is written before the handler runs, so only the outcome has it."""
    found = {
        "role": known.role,
        "session_id": known.session_id,
        "plan_hash": known.plan_hash,
        "phase_id": known.phase_id,
        "workspace_root": known.workspace_root,
    }
    return {name: value for name, value in found.items() if value}


Record = TypeVar("Record", bound=event.CallRecord)


def _as(kind: type[Record], record: event.Call, **changes: Any) -> Record:
    """The same record as one of another kind, with changes."""
    shared = {name: getattr(record, name) for name in kind.__struct_fields__}
    return kind(**(shared | changes))
