"""What the audit trail records, as frozen values that msgspec writes as they stand: the order of fields is that of members.

    Call       one call of a read-only tool: a single record
    Intent     a call that may change something, before it runs
    Outcome    the same call, after it ran or was given up
    Refusal    something that was refused before it became a running call
    Flood      refusals of malformed input that were counted instead of recorded one by one
    Recovery   the log was repaired after a crash or restored; what was set aside
    Prune      records were removed from the front; the tree still covers them
    Repair     a person had the log continued although it was tampered with

Values are digested. Arguments and results are in a record only where the recorder keeps values (`Recorder.keeps_values`).
Whatever comes from outside passes the redactor in `render_body`, so that no caller can forget it.
Not here: chaining (`chain`), time and ids (given by the caller).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType

from strictwire.audit.redact import redact
from strictwire.canon.digest import digest_bytes
from strictwire.canon.json import JsonValue


class CallRecord(Struct, frozen=True, kw_only=True, tag_field="kind"):
    """What every record of a call has. A member that is UNSET is not written."""

    timestamp: str
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
    """Version of the policy that the call was checked against."""
    args_digest: str | None = None
    """`canon.digest.digest` of the complete arguments."""
    plan_hash: str | None = None
    phase_id: str | None = None
    workspace_root: str | UnsetType = UNSET
    """The folder that the handler worked in, where it named one."""
    upstream: str | UnsetType = UNSET
    """The server behind the guard that the call was meant for."""


class EndedRecord(CallRecord, frozen=True, kw_only=True, tag_field="kind"):
    """A record of how a call ended."""

    stage: str | UnsetType = UNSET
    """Where it was refused; in a Refusal alone."""
    outcome: str = "ok"
    """`ok` or `error`."""
    result_digest: str | None = None
    """`canon.digest.digest_bytes` over the JSON that the tool returned, before a profile wrapped it."""
    error_code: str | None = None
    """The code as it was sent to the client."""
    failure_code: str | UnsetType = UNSET
    """The code of the catalogue, where the dialect of the tool sends another."""
    invariant_id: str | None = None
    cause: JsonValue = None
    """The normalised origin of the failure."""
    duration_us: int = 0
    envelope: Any = UNSET
    """The failure as it is sent to the client."""
    arguments: Any = UNSET
    result: Any = UNSET


class Call(EndedRecord, frozen=True, kw_only=True, tag_field="kind", tag="call"):
    """One call of a tool that is declared read-only."""


class Intent(CallRecord, frozen=True, kw_only=True, tag_field="kind", tag="intent"):
    """A call that may change something is about to run."""

    arguments: Any = UNSET


class Outcome(EndedRecord, frozen=True, kw_only=True, tag_field="kind", tag="outcome"):
    """The call of an earlier Intent has ended."""


class Refusal(EndedRecord, frozen=True, kw_only=True, tag_field="kind", tag="refusal"):
    """Refused at a stage before running: malformed, unknown, denied, not conforming to its schema."""


class Flood(Struct, frozen=True, kw_only=True, tag_field="kind", tag="flood"):
    """How many malformed inputs of each kind were refused since `since` without a record of their own."""

    timestamp: str
    since: str
    counts: Mapping[str, int]


class Recovery(Struct, frozen=True, kw_only=True, tag_field="kind", tag="recovery"):
    """The log was repaired before this record. `digest` is of the bytes set aside, `kept_as` the file they are in."""

    timestamp: str
    reason: str
    size: int
    """How many bytes were removed."""
    digest: str
    kept_as: str


class Prune(Struct, frozen=True, kw_only=True, tag_field="kind", tag="prune"):
    """Records before `first` were removed because they were made before `before`."""

    timestamp: str
    before: str
    first: int


class Repair(Struct, frozen=True, kw_only=True, tag_field="kind", tag="repair"):
    """A person accepted that the log was tampered with, and had it continued."""

    timestamp: str
    principal: str
    reason: str
    """Why, in the words of that person."""
    finding: str
    """What was wrong."""
    kept_as: str
    """The folder that holds what was set aside; empty if nothing was."""
    trusted: int
    """How many records the newest trusted checkpoint covers."""


Event: TypeAlias = Call | Intent | Outcome | Refusal | Flood | Recovery | Prune | Repair
"""Anything that becomes a record."""

_encode = msgspec.json.Encoder().encode

_FOREIGN: Final = ("cause", "envelope", "arguments", "result")
"""Members whose values come from outside."""


MAX_NAME: Final = 256
"""Characters of a name in a record. Names come from clients; those of tools have at most 128."""

_PLAIN_BYTES: Final = 2048
"""A record without long names and without values is shorter than this."""


def render_body(event: Event) -> bytes:
    """The JSON object of a record, redacted and with bounded names, without its place in the chain."""
    body = _render(event)
    return body if len(body) <= _PLAIN_BYTES else _render(_with_bounded_names(event))


def bound_name(name: str) -> str:
    """A name, or its beginning and a digest that identifies the whole."""
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME // 2]}... {digest_bytes(name.encode('utf-8', 'replace'))}"


def _with_bounded_names(event: Event) -> Event:
    found = ((name, getattr(event, name)) for name in event.__struct_fields__)
    names = {name: bound_name(value) for name, value in found if isinstance(value, str)}
    return msgspec.structs.replace(event, **names)


def _render(event: Event) -> bytes:
    if isinstance(event, EndedRecord):
        if event.cause is None and event.envelope is UNSET and event.arguments is UNSET and event.result is UNSET:
            return _encode(event)
    elif isinstance(event, Flood):
        return _encode(msgspec.structs.replace(event, counts=dict(sorted(event.counts.items()))))
    found = ((name, getattr(event, name, UNSET)) for name in _FOREIGN)
    redacted = {name: redact(value) for name, value in found if value is not UNSET}
    return _encode(msgspec.structs.replace(event, **redacted))
