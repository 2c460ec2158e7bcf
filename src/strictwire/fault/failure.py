"""The value that represents every expected error.

    Failure
      code         the catalogue code; programs act on it
      stage        the stage at which the call failed
      blame        who caused it: caller, tool, upstream, us
      retryable    whether the same call may succeed later
      text         a public message, never made from an exception
      details      public fields: names, keywords, limits; no offending values
      invariant_id the product invariant that is violated, if any
      cause        the normalised origin; only in the audit trail and in `system/1.0`
      own_code     a code of the author, such as `shop/OUT_OF_STOCK`, that refines `code`; only some dialects show it
      action       what the client should do, if it is not the action of the code

A dialect renders a Failure and the Facts of its call as the JSON of a contract. Both are msgspec structs and not
dataclasses, because every refused call creates one of each and a frozen dataclass takes six times as long to create. Use
`msgspec.structs.replace` for a changed copy.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from strictwire.canon.json import JsonValue
from strictwire.fault.catalogue import CATALOGUE, Blame, Stage

EPOCH: Final = "1970-01-01T00:00:00.000Z"
"""The timestamp if none was set."""

NO_DETAILS: Final[Mapping[str, JsonValue]] = MappingProxyType({})


class Failure(Struct, frozen=True, kw_only=True):
    """One failure; the module docstring describes the fields. Raises KeyError for a code outside the catalogue."""

    code: str
    stage: Stage
    blame: Blame
    retryable: bool
    text: str
    details: Mapping[str, JsonValue] = NO_DETAILS
    invariant_id: str | None = None
    cause: JsonValue = None
    own_code: str | None = None
    action: str | None = None

    def __post_init__(self) -> None:
        CATALOGUE[self.code]

    @property
    def shown_code(self) -> str:
        """The most specific code."""
        return self.own_code or self.code


def fail(
    code: str,
    *,
    text: str | None = None,
    details: Mapping[str, JsonValue] = NO_DETAILS,
    stage: Stage | None = None,
    invariant_id: str | None = None,
    cause: JsonValue = None,
    action: str | None = None,
) -> Failure:
    """Make a Failure with the defaults of its catalogue entry. Raises KeyError for an unknown code."""
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
        action=action,
    )


class Refused(Exception):
    """Raised by a handler to return a Failure: `raise Refused(fail("FILE_NOT_FOUND"))`. The pipeline catches it."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.code)
        self.failure = failure


class Facts(Struct, frozen=True, kw_only=True):
    """The facts of a call that a dialect may render besides the failure."""

    tool: str = ""
    """The requested tool; for start-up failures in `system/1.0`, `startup`."""
    timestamp: str = EPOCH
    """ISO 8601 in UTC with milliseconds, from the injected clock."""
    role: str | None = None
    session_id: str | None = None
    workspace_root: str | None = None
    phase_id: str | None = None
    plan_hash: str | None = None
    revision: str = "2026-07-28"
    """The MCP revision of the connection."""
    stack_trace: str | None = None
    """Set only with DEBUG_STACK=true."""
