"""What the audit trail records, as frozen values, and the JSON body of each.

    Call       one call of a read-only tool: a single record (Brief: the same, cheaper to make)
    Intent     a call that may change something, before it runs
    Outcome    the same call, after it ran (or was given up)
    Refusal    something that was turned away before it became a running call
    Flood      refusals of malformed input that were counted instead of recorded one by one
    Recovery   the log was repaired after a crash or restored; what was set aside
    Prune      records were removed from the front; the tree still covers them

Values are digested. Arguments and results are written only with `Values.STORED`. Whatever is written passes the redactor
here, so that no caller can forget it. Records are structs and not dataclasses because every call makes three of them: a
frozen dataclass takes six times as long to build. Not here: chaining (`chain`), time and ids (given by the caller).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from msgspec import Struct, structs

from strictwire.audit.redact import redact
from strictwire.canon.digest import PREFIX, digest_bytes, sha256
from strictwire.canon.json import JsonObject, JsonValue, render
from strictwire.native import speed


class Values(StrEnum):
    """Whether the arguments and results of calls are kept beside their digests."""

    DIGESTED = "digested"
    STORED = "stored"


class Origin(Struct, frozen=True, kw_only=True):
    """Who asked for what, and by which way: the same in every record of one call."""

    call_id: str | None = None
    """Joins an intent to its outcome."""
    principal: str | None = None
    role: str | None = None
    session_id: str | None = None
    transport: str | None = None
    profile: str | None = None
    method: str | None = None
    tool_name: str | None = None
    contract: str | None = None
    """Fingerprint of the contract the call was judged by."""
    policy: str | None = None
    """Version of the policy the call was judged by."""
    args_digest: str | None = None
    """`canon.digest.digest` over the full arguments."""
    plan_hash: str | None = None
    phase_id: str | None = None
    workspace_root: str | None = None
    """The folder a handler said that the call was about; written only where there is one."""


NOWHERE: Final = Origin()
"""For input that could not be read far enough to know."""


class End(Struct, frozen=True, kw_only=True):
    """How a call ended. `error_code` is None when it succeeded."""

    duration_us: int
    result_digest: str | None = None
    """`canon.digest.digest_bytes` over the JSON that the tool returned, before a profile dressed it."""
    error_code: str | None = None
    invariant_id: str | None = None
    cause: JsonValue = None
    """The normalised origin of the failure."""
    envelope: JsonValue = None
    """The failure as it is sent to the client."""


class Call(Struct, frozen=True, kw_only=True):
    """One call of a tool declared read-only."""

    timestamp: str
    origin: Origin
    end: End
    arguments: JsonValue = None
    result: JsonValue = None


class Brief(Struct, frozen=True, gc=False):
    """A Call that went well, or a Refusal, as the hot path makes it: what many of them share is written once."""

    form: Form
    timestamp: str
    args: bytes
    """The arguments as sorted JSON, over which they are digested."""
    raw: bytes
    """What the tool returned as JSON; empty if it was not run."""
    duration_us: int
    turned: Turned | None = None
    """How it was refused; None if it was not."""
    arguments: JsonValue = None
    result: JsonValue = None
    """Both only where a recorder wants them: much would be kept alive until the record is written."""

    def as_event(self) -> Call | Refusal:
        """The record that it stands for."""
        origin = structs.replace(self.form.origin, args_digest=digest_bytes(self.args))
        turned = self.turned
        if turned is None:
            end = End(duration_us=self.duration_us, result_digest=digest_bytes(self.raw))
            return Call(timestamp=self.timestamp, origin=origin, end=end, arguments=self.arguments, result=self.result)
        end = End(
            duration_us=self.duration_us,
            error_code=turned.error_code,
            invariant_id=turned.invariant_id,
            envelope=turned.envelope,
        )
        return Refusal(timestamp=self.timestamp, stage=turned.stage, origin=origin, end=end, arguments=self.arguments)


class Form(Struct, frozen=True):
    """The part of a Brief that is known before the call."""

    origin: Origin
    opening: str
    """The same as JSON, from the timestamp to the digest of the arguments."""


class Turned(Struct, frozen=True):
    """The part of a Brief refusal that is known beforehand; `before` and `after` are it as JSON, around the duration."""

    stage: str
    error_code: str
    invariant_id: str | None
    envelope: JsonValue
    before: str
    after: str


class Intent(Struct, frozen=True, kw_only=True):
    """A call that may change something is about to run."""

    timestamp: str
    origin: Origin
    arguments: JsonValue = None


class Outcome(Struct, frozen=True, kw_only=True):
    """The call of an earlier Intent has ended."""

    timestamp: str
    origin: Origin
    end: End
    result: JsonValue = None


class Refusal(Struct, frozen=True, kw_only=True):
    """Turned away at a stage before running: malformed, unknown, denied, not fitting its schema."""

    timestamp: str
    stage: str
    origin: Origin
    end: End
    arguments: JsonValue = None


class Flood(Struct, frozen=True, kw_only=True):
    """How many malformed inputs of each kind came since `since` without a record of their own."""

    timestamp: str
    since: str
    counts: Mapping[str, int]


class Recovery(Struct, frozen=True, kw_only=True):
    """The log was repaired before this record. `digest` is of the bytes set aside, `kept_as` the file they are in."""

    timestamp: str
    reason: str
    size: int
    """How many bytes were set aside."""
    digest: str
    kept_as: str


class Prune(Struct, frozen=True, kw_only=True):
    """Records before `first` were removed because they were made before `before`."""

    timestamp: str
    before: str
    first: int


Event: TypeAlias = Call | Brief | Intent | Outcome | Refusal | Flood | Recovery | Prune
"""Anything that becomes a record."""


def make_form(origin: Origin) -> Form:
    """The form of calls from one origin, which names neither plan nor phase."""
    members = render({name: getattr(origin, name) for name in _BEFORE_ARGUMENTS})[1:-1].decode()
    return Form(origin, f'",{members},"args_digest":"{PREFIX}')


def make_turned(*, stage: str, error_code: str, invariant_id: str | None, envelope: JsonValue) -> Turned:
    """The same for refusals of one kind."""
    members: JsonObject = {"stage": stage}
    _add_end(members, End(duration_us=0, error_code=error_code, invariant_id=invariant_id, envelope=envelope))
    before, _, after = render(members)[1:-1].partition(b'"duration_us":0')
    return Turned(stage, error_code, invariant_id, envelope, before.decode(), after.decode())


_BEFORE_ARGUMENTS: Final = (
    "call_id",
    "principal",
    "role",
    "session_id",
    "transport",
    "profile",
    "method",
    "tool_name",
    "contract",
    "policy",
)
"""What stands before the digest of the arguments."""


def render_body(event: Event, values: Values = Values.DIGESTED) -> bytes:
    """The JSON object of a record, in declared order, without its place in the chain.

    Raises KeyError for a value that is not an Event.
    """
    return write_digested(event) if values is Values.DIGESTED else render(_RENDERERS[type(event)](event, values))


def write_digested(event: Event) -> bytes:
    """`render_body` where values are digested; of a Brief without building the record, and a test holds the two together."""
    if type(event) is not Brief:
        return render(_RENDERERS[type(event)](event, Values.DIGESTED))
    turned, opening = event.turned, event.form.opening
    if turned is None:
        return write_call(event.timestamp, opening, event.args, event.raw, event.duration_us)
    return (
        f'{{"kind":"refusal","timestamp":"{event.timestamp}{opening}{sha256(event.args).hex()}","plan_hash":null,'
        f'"phase_id":null,{turned.before}"duration_us":{event.duration_us}{turned.after}}}'
    ).encode()


def write_call_in_python(timestamp: str, opening: str, args: bytes, raw: bytes, duration_us: int) -> bytes:
    """The body of a Call that went well, given the opening of its Form and what is digested."""
    return (
        f'{{"kind":"call","timestamp":"{timestamp}{opening}{sha256(args).hex()}","plan_hash":null,"phase_id":null,'
        f'"outcome":"ok","result_digest":"{PREFIX}{sha256(raw).hex()}","error_code":null,"invariant_id":null,"cause":null,'
        f'"duration_us":{duration_us}}}'
    ).encode()


write_call: Final[Callable[[str, str, bytes, bytes, int], bytes]] = getattr(speed, "write_call", write_call_in_python)
"""`write_call_in_python`, by whoever is faster."""


def _call(event: Call, values: Values) -> JsonObject:
    members = _entry("call", event)
    _add_end(members, event.end)
    _add_kept(members, values, arguments=event.arguments, result=event.result)
    return members


def _brief(event: Brief, values: Values) -> JsonObject:
    full = event.as_event()
    return _call(full, values) if isinstance(full, Call) else _refusal(full, values)


def _intent(event: Intent, values: Values) -> JsonObject:
    members = _entry("intent", event)
    _add_kept(members, values, arguments=event.arguments)
    return members


def _outcome(event: Outcome, values: Values) -> JsonObject:
    members = _entry("outcome", event)
    _add_end(members, event.end)
    _add_kept(members, values, result=event.result)
    return members


def _refusal(event: Refusal, values: Values) -> JsonObject:
    members = _entry("refusal", event)
    members["stage"] = event.stage
    _add_end(members, event.end)
    _add_kept(members, values, arguments=event.arguments)
    return members


def _flood(event: Flood, _values: Values) -> JsonObject:
    return {
        "kind": "flood",
        "timestamp": event.timestamp,
        "since": event.since,
        "counts": dict(sorted(event.counts.items())),
    }


def _recovery(event: Recovery, _values: Values) -> JsonObject:
    return {
        "kind": "recovery",
        "timestamp": event.timestamp,
        "reason": event.reason,
        "size": event.size,
        "digest": event.digest,
        "kept_as": event.kept_as,
    }


def _prune(event: Prune, _values: Values) -> JsonObject:
    return {"kind": "prune", "timestamp": event.timestamp, "before": event.before, "first": event.first}


def _entry(kind: str, event: Call | Intent | Outcome | Refusal) -> JsonObject:
    origin = event.origin
    members: JsonObject = {
        "kind": kind,
        "timestamp": event.timestamp,
        "call_id": origin.call_id,
        "principal": origin.principal,
        "role": origin.role,
        "session_id": origin.session_id,
        "transport": origin.transport,
        "profile": origin.profile,
        "method": origin.method,
        "tool_name": origin.tool_name,
        "contract": origin.contract,
        "policy": origin.policy,
        "args_digest": origin.args_digest,
        "plan_hash": origin.plan_hash,
        "phase_id": origin.phase_id,
    }
    if origin.workspace_root is not None:
        members["workspace_root"] = origin.workspace_root
    return members


def _add_end(members: JsonObject, end: End) -> None:
    members["outcome"] = "ok" if end.error_code is None else "error"
    members["result_digest"] = end.result_digest
    members["error_code"] = end.error_code
    members["invariant_id"] = end.invariant_id
    members["cause"] = end.cause if end.cause is None else redact(end.cause)
    members["duration_us"] = end.duration_us
    if end.envelope is not None:
        members["envelope"] = redact(end.envelope)


def _add_kept(members: JsonObject, values: Values, **named: JsonValue) -> None:
    if values is Values.STORED:
        members.update((name, redact(value)) for name, value in named.items() if value is not None)


_RENDERERS: Final[Mapping[type, Callable[[Any, Values], JsonObject]]] = MappingProxyType(
    {
        Call: _call,
        Brief: _brief,
        Intent: _intent,
        Outcome: _outcome,
        Refusal: _refusal,
        Flood: _flood,
        Recovery: _recovery,
        Prune: _prune,
    }
)
"""How each record is written. A test holds that it covers Event."""
