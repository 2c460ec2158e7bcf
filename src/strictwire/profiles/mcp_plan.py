"""What is known beforehand of the plain calls of one tool (`mcp_lane`), worked out when the first of them comes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from strictwire.audit.event import Form, Origin, Turned, make_form
from strictwire.canon.json import ANY_DEPTH, DEFAULT_LIMITS, MAX_DEPTH, JsonObject, JsonValue, Limits
from strictwire.contract.conform import Cause
from strictwire.contract.depth import maybe_depth
from strictwire.contract.handler import Alone
from strictwire.contract.tool import ToolContract
from strictwire.pipeline.authorise import AllowAll, allows_tier
from strictwire.pipeline.call import Caller, Operation
from strictwire.pipeline.caps import Gate
from strictwire.profiles.exchange import Inbound, Reply
from strictwire.profiles.mcp_core import PROFILE, Core
from strictwire.profiles.mcp_plain import COLONS, METHOD
from strictwire.profiles.mirror import Mirrored

AROUND: Final = 2
"""Levels of a message around the arguments."""


class Plan(msgspec.Struct, frozen=True):
    """What is known beforehand of the calls of one tool by one caller."""

    operation: Operation
    caller: Caller
    transport: str
    form: Form
    colons: int
    """Of a message outside of its arguments and `_meta`."""
    alone: Alone | None
    """Its handler, if that does not look at its call."""
    keeps_objects: bool
    """Whether a dict that its handler returned is its result as it is."""
    gate: Gate
    gate_of_all: Gate
    accepts: Callable[[JsonValue], bool]
    promises: Callable[[JsonValue], bool]
    vouch: Callable[[JsonValue], bool] | None
    """`contract.conform.Conformer.vouch` of its results."""
    seconds: float
    response_bytes: int
    text_json: bool
    mirrored: tuple[Mirrored, ...]
    find_cause: Callable[[JsonValue], Cause]
    """Why arguments do not fit."""
    is_shallow: bool
    """Whether arguments that fit cannot be nested too deep."""
    names_plan: bool
    """Whether arguments that fit may name a plan or a phase."""
    limits: Limits
    """Of what its handler returns, as far as its schema does not see to that."""
    refusals: dict[tuple[Cause, str], Refusal]
    """Refusals that were worded already, by what did not fit and the revision."""


class Refusal(msgspec.Struct, frozen=True):
    """How arguments that do not fit in one particular way are answered and recorded."""

    reply: Reply
    """To the call that it was worded for."""
    result: bytes
    """The same for any other; empty where the answer is an error of the protocol."""
    turned: Turned


def maybe_plan(operation: Operation, inbound: Inbound, core: Core, depth: int) -> Plan | None:
    """The plan of a tool for one caller, in messages of so many levels; None if its calls cannot be plain."""
    caller, contract, accepts, promises = inbound.caller, operation.contract, operation.accepts, operation.promises
    if not isinstance(contract, ToolContract) or accepts is None or promises is None:
        return None
    if not _can_be_plain(operation, caller) or not isinstance(core.pipeline.policy, AllowAll):
        return None
    origin = Origin(
        principal=caller.principal,
        role=caller.role,
        session_id=caller.session_id,
        transport=inbound.transport,
        profile=PROFILE,
        method=METHOD,
        tool_name=operation.name,
        contract=operation.fingerprint,
        policy=core.pipeline.journal.policy_version,
    )
    alone = operation.handler if isinstance(operation.handler, Alone) else None
    return Plan(
        operation=operation,
        caller=caller,
        transport=inbound.transport,
        form=make_form(origin),
        colons=COLONS + operation.name.count(":"),
        alone=alone,
        keeps_objects=alone is None or alone.keeps_objects,
        gate=operation.gate,
        gate_of_all=operation.gate.parent or operation.gate,
        accepts=accepts.accepts,
        promises=promises.accepts,
        vouch=promises.vouch,
        seconds=operation.caps.timeout_ms / 1000,
        response_bytes=operation.caps.response_bytes,
        text_json=contract.text_json,
        mirrored=core.mirrored_of(contract),
        find_cause=accepts.find_cause,
        is_shallow=_is_shallow(contract.input_schema, depth - AROUND),
        names_plan=_may_name_plan(contract.input_schema),
        limits=Limits(depth=ANY_DEPTH) if _is_shallow(contract.output_schema, MAX_DEPTH) else DEFAULT_LIMITS,
        refusals={},
    )


def _can_be_plain(operation: Operation, caller: Caller) -> bool:
    simple = operation.read_only and not operation.capabilities
    return simple and allows_tier(caller.tier, operation.tier) and (not operation.roles or caller.role in operation.roles)


def names_plan(arguments: JsonObject) -> bool:
    """Whether arguments name a plan or a phase, which the record of a plain call does not."""
    return "plan_hash" in arguments or "phase_id" in arguments


def _may_name_plan(schema: JsonObject) -> bool:
    """Whether what fits may name one: not where other members than these are refused."""
    closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
    return not closed or names_plan(schema.get("properties") or {})


def _is_shallow(schema: JsonObject | None, most: int) -> bool:
    depth = None if schema is None else maybe_depth(schema)
    return depth is not None and depth <= most
