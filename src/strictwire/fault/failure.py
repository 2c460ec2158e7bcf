"""One failure, whatever went wrong and wherever.

    Failure
      code         which catalogue entry: what a program acts on
      stage        how far the call got
      blame        whose fault: caller, tool, upstream, us
      retryable    whether the same call may succeed later
      text         a public sentence, never made from an exception
      details      public fields: names, keywords, limits; no offending values
      invariant_id which of the product's invariants broke
      cause        the normalised origin: for the audit trail and for `system/1.0` alone

A dialect turns a Failure, together with the Facts of the call, into the JSON of its contract. Both are structs and not
dataclasses because a refused call makes one of each, and a frozen dataclass takes six times as long to build;
`msgspec.structs.replace` gives a changed copy.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from strictwire.canon.json import JsonValue
from strictwire.fault.catalogue import CATALOGUE, Blame, Stage

EPOCH: Final = "1970-01-01T00:00:00.000Z"
"""The time where no clock was asked."""

NO_DETAILS: Final[Mapping[str, JsonValue]] = MappingProxyType({})


class Failure(Struct, frozen=True, kw_only=True):
    """See the module. A code outside the catalogue cannot be constructed: KeyError."""

    code: str
    stage: Stage
    blame: Blame
    retryable: bool
    text: str
    details: Mapping[str, JsonValue] = NO_DETAILS
    invariant_id: str | None = None
    cause: JsonValue = None

    def __post_init__(self) -> None:
        CATALOGUE[self.code]


def fail(
    code: str,
    *,
    text: str | None = None,
    details: Mapping[str, JsonValue] = NO_DETAILS,
    stage: Stage | None = None,
    invariant_id: str | None = None,
    cause: JsonValue = None,
) -> Failure:
    """A Failure with the stage, blame, retry advice and text of its catalogue entry. Raises KeyError: unknown code."""
    entry = CATALOGUE[code]
    return Failure(
        code=code,
        stage=stage or entry.stage,
        blame=entry.blame,
        retryable=entry.retryable,
        text=text or entry.text,
        details=details,
        invariant_id=invariant_id,
        cause=cause,
    )


class Refused(Exception):
    """How a handler gives a Failure: `raise Refused(fail("FILE_NOT_FOUND"))`. The pipeline takes the value out."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.code)
        self.failure = failure


class Facts(Struct, frozen=True, kw_only=True):
    """What a dialect may know of the call besides the failure."""

    tool: str = ""
    """The tool asked for; for `system/1.0` also `startup`."""
    timestamp: str = EPOCH
    """ISO 8601 in UTC with milliseconds, from the injected clock."""
    role: str | None = None
    session_id: str | None = None
    workspace_root: str | None = None
    phase_id: str | None = None
    plan_hash: str | None = None
    revision: str = "2026-07-28"
    """The MCP revision spoken."""
    stack_trace: str | None = None
    """Only where DEBUG_STACK=true."""
