"""The records of the audit trail as frozen values, and the JSON body of each.

    Call       a call of a read-only tool, as one record (Brief: the same record, cheaper to create)
    Intent     a call that may change something, before it runs
    Outcome    the same call after it ran or was cancelled
    Refusal    a message or call that was refused before it ran
    Flood      the number of malformed inputs that were counted instead of recorded one by one
    Recovery   the log was repaired after a crash, or restored
    Prune      old records were deleted; the Merkle tree still covers them

Records contain digests of values. Arguments and results are written only with `Values.STORED`. Everything is redacted
here, so that no caller can forget it. Records are msgspec structs and not dataclasses, because every call creates three
of them and a frozen dataclass takes six times as long to create. Not here: chaining (`chain`), time and ids (arguments).
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
    """Whether arguments and results are stored beside their digests."""

    DIGESTED = "digested"
    STORED = "stored"


class Origin(Struct, frozen=True, kw_only=True):
    """Who called what, and over which transport. Equal in every record of one call."""

    call_id: str | None = None
    """Links an intent to its outcome."""
    principal: str | None = None
    role: str | None = None
    session_id: str | None = None
    transport: str | None = None
    profile: str | None = None
    method: str | None = None
    tool_name: str | None = None
    contract: str | None = None
    """Fingerprint of the contract that the call was checked against."""
    policy: str | None = None
    """Version of the policy that was applied to the call."""
    args_digest: str | None = None
    """`canon.digest.digest` of the complete arguments."""
    plan_hash: str | None = None
    phase_id: str | None = None
    workspace_root: str | None = None
    """The workspace folder that the handler reported; written only if there is one."""


NOWHERE: Final = Origin()
"""The origin of input that could not be parsed far enough to know more."""


class End(Struct, frozen=True, kw_only=True):
    """How a call ended. `error_code` is None if it succeeded."""

    duration_us: int
    result_digest: str | None = None
    """`canon.digest.digest_bytes` of the JSON that the tool returned, before the profile wrapped it."""
    error_code: str | None = None
    invariant_id: str | None = None
    cause: JsonValue = None
    """The normalised cause of the failure."""
    envelope: JsonValue = None
    """The failure as it is sent to the client."""


class Call(Struct, frozen=True, kw_only=True):
    """A call of a read-only tool."""

    timestamp: str
    origin: Origin
    end: End
    arguments: JsonValue = None
    result: JsonValue = None


class Brief(Struct, frozen=True, gc=False):
    """A successful Call or a Refusal, as the hot path creates it: the part that many calls share is rendered once."""

    form: Form
    timestamp: str
    args: bytes
    """The arguments as sorted JSON, the input of their digest."""
    raw: bytes
    """The JSON that the tool returned; empty if it did not run."""
    duration_us: int
    turned: Turned | None = None
    """How the call was refused; None if it succeeded."""
    arguments: JsonValue = None
    result: JsonValue = None
    """Arguments and result are set only if the recorder stores values; otherwise they would stay in memory until the
    record is written."""

    def as_event(self) -> Call | Refusal:
        """The equivalent Call or Refusal."""
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
    """The part of a Brief that is known before the call, rendered once."""

    origin: Origin
    opening: str
    """The origin as JSON text: everything between the timestamp and the digest of the arguments."""


class Turned(Struct, frozen=True):
    """The part of a refused Brief that is known before the call. `before` and `after` are its JSON around the duration."""

    stage: str
    error_code: str
    invariant_id: str | None
    envelope: JsonValue
    before: str
    after: str


class Intent(Struct, frozen=True, kw_only=True):
    """A call that may change something, recorded before it runs."""

    timestamp: str
    origin: Origin
    arguments: JsonValue = None


class Outcome(Struct, frozen=True, kw_only=True):
    """The end of the call of an earlier Intent."""

    timestamp: str
    origin: Origin
    end: End
    result: JsonValue = None


class Refusal(Struct, frozen=True, kw_only=True):
    """A message or call refused before it ran: malformed, unknown, denied or with invalid arguments."""

    timestamp: str
    stage: str
    origin: Origin
    end: End
    arguments: JsonValue = None


class Flood(Struct, frozen=True, kw_only=True):
    """How many malformed inputs of each kind arrived since `since` without a record of their own."""

    timestamp: str
    since: str
    counts: Mapping[str, int]


class Recovery(Struct, frozen=True, kw_only=True):
    """The log was repaired before this record. The removed bytes are in the file `kept_as`; `digest` is their digest."""

    timestamp: str
    reason: str
    size: int
    """How many bytes were removed."""
    digest: str
    kept_as: str


class Prune(Struct, frozen=True, kw_only=True):
    """The records before number `first` were deleted because they are older than the time `before`."""

    timestamp: str
    before: str
    first: int


Event: TypeAlias = Call | Brief | Intent | Outcome | Refusal | Flood | Recovery | Prune
"""Any record."""


def make_form(origin: Origin) -> Form:
    """The form for calls with this origin. The origin must have neither a plan nor a phase."""
    members = render({name: getattr(origin, name) for name in _BEFORE_ARGUMENTS})[1:-1].decode()
    return Form(origin, f'",{members},"args_digest":"{PREFIX}')


def make_turned(*, stage: str, error_code: str, invariant_id: str | None, envelope: JsonValue) -> Turned:
    """The prepared part for refusals of one kind."""
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
"""The members before `args_digest`, in the order of a record."""


def render_body(event: Event, values: Values = Values.DIGESTED) -> bytes:
    """The JSON object of a record with its members in a fixed order, without `seq` and `prev`.

    Raises KeyError for a value that is not an Event.
    """
    return write_digested(event) if values is Values.DIGESTED else render(_RENDERERS[type(event)](event, values))


def write_digested(event: Event) -> bytes:
    """`render_body` with digested values. Renders a Brief directly, without creating the record; a test compares both."""
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
    """The body of a successful Call, from the opening of its Form and the bytes to digest."""
    return (
        f'{{"kind":"call","timestamp":"{timestamp}{opening}{sha256(args).hex()}","plan_hash":null,"phase_id":null,'
        f'"outcome":"ok","result_digest":"{PREFIX}{sha256(raw).hex()}","error_code":null,"invariant_id":null,"cause":null,'
        f'"duration_us":{duration_us}}}'
    ).encode()


write_call: Final[Callable[[str, str, bytes, bytes, int], bytes]] = getattr(speed, "write_call", write_call_in_python)
"""The C implementation if available, else `write_call_in_python`."""


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
"""The renderer of each record type. A test checks that every Event has one."""
