"""`system/1.0`: the SystemError envelope (S1 to S5, S9) and the exception GovernedError.

The exception is not called SystemError because Python has a built-in of that name.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, cast

from msgspec.structs import asdict, replace

from strictwire.canon.json import JsonObject
from strictwire.fault.catalogue import CATALOGUE, RENDERINGS
from strictwire.fault.failure import Facts, Failure, Refused, fail
from strictwire.fault.invariants import INVARIANTS
from strictwire.fault.plain import plain, plain_text
from strictwire.fault.public import invariant_id, public_text, tool_name
from strictwire.fault.violations import read_violations, summarise, system_code

_FAMILIES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "session": ("SESSION_NOT_INITIALIZED", "SESSION_LOCKED", "SESSION_INITIALIZATION_FAILED"),
        "input": (
            "INVALID_INPUT_TYPE",
            "INVALID_INPUT_FORMAT",
            "INVALID_INPUT_VALUE",
            "MISSING_REQUIRED_FIELD",
        ),
        "authorization": ("UNAUTHORIZED_ACTION", "INSUFFICIENT_PERMISSIONS", "ROLE_MISMATCH"),
        "path": ("INVALID_PATH", "PATH_NOT_FOUND", "PATH_TRAVERSAL_BLOCKED", "OUTSIDE_WORKSPACE"),
        "file": ("FILE_NOT_FOUND", "FILE_ALREADY_EXISTS", "FILE_READ_FAILED", "FILE_WRITE_FAILED"),
        "patch": ("PATCH_INVALID", "PATCH_APPLY_FAILED", "HASH_MISMATCH"),
        "plan": ("PLAN_NOT_FOUND", "PLAN_NOT_APPROVED", "PLAN_ENFORCEMENT_FAILED", "PLAN_SCOPE_VIOLATION"),
        "policy": ("POLICY_VIOLATION", "RUST_POLICY_VIOLATION", "PREFLIGHT_FAILED"),
        "governance": ("INVARIANT_VIOLATION", "BOOTSTRAP_FAILURE", "SELF_AUDIT_FAILURE"),
        "audit": ("AUDIT_LOG_FAILED", "AUDIT_LOCK_FAILED"),
        "generic": ("INTERNAL_ERROR", "UNKNOWN_TOOL_FAILURE"),
    }
)

SYSTEM_ERROR_CODES: Final[Mapping[str, str]] = MappingProxyType(
    {code: family for family, codes in _FAMILIES.items() for code in codes}
)
"""Every registered code and its family (S3). Immutable."""

STARTUP: Final = "startup"
"""The tool name in start-up failures (S13)."""

UNNAMED: Final = "unknown"
"""The tool name if the caller gave none: the field is never empty."""

MAX_STACK: Final = 16_000
"""Longest stack trace in characters: about two hundred frames."""

MAX_FACT: Final = 4_096
"""Longest fact in characters: PATH_MAX of Linux, for the workspace root."""


def render(failure: Failure, facts: Facts) -> JsonObject:
    """The envelope with all eleven fields; `stack_trace` only if the facts have one (S1, S2)."""
    envelope: JsonObject = {
        "error_code": code_of(failure),
        "human_message": _message(failure),
        "role": _bounded(facts.role),
        "session_id": _bounded(facts.session_id),
        "workspace_root": _bounded(facts.workspace_root),
        "tool_name": tool_name(facts.tool) or UNNAMED,
        "invariant_id": invariant_id(failure),
        "phase_id": _bounded(facts.phase_id),
        "plan_hash": _bounded(facts.plan_hash),
        "cause": _cause(failure),
        "timestamp": facts.timestamp,
    }
    if facts.stack_trace is not None:
        envelope["stack_trace"] = plain_text(facts.stack_trace, MAX_STACK)
    return envelope


def code_of(failure: Failure) -> str:
    """The registered code. Invalid arguments and denied roles have more specific codes than the table."""
    if failure.code == "INVALID_PARAMS":
        return system_code(read_violations(failure)) or RENDERINGS[failure.code].system
    if failure.code == "PERMISSION_DENIED" and "requiredRoles" in failure.details:
        return "UNAUTHORIZED_ACTION"
    return RENDERINGS[failure.code].system


def _message(failure: Failure) -> str:
    """The text of the failure. For invalid arguments with the default text, the most severe violation."""
    text = public_text(failure)
    is_default = text == CATALOGUE[failure.code].text and RENDERINGS[failure.code].mcp == "INVALID_PARAMS"
    return (summarise(read_violations(failure)) or text) if is_default else text


def _bounded(fact: str | None) -> str | None:
    return None if fact is None else plain_text(fact, MAX_FACT)


def _cause(failure: Failure) -> str | JsonObject | None:
    """The cause as a string, an object or null, as the document requires: other values are wrapped in an object."""
    cause = plain(failure.cause)
    return cause if cause is None or isinstance(cause, str | dict) else {"value": cause}


class GovernedError(Refused):
    """An exception with a failure and the known facts of the call. Created only by the four factories (S5)."""

    def __init__(self, failure: Failure, facts: Facts) -> None:
        super().__init__(failure)
        self.facts = facts

    @property
    def code(self) -> str:
        """The registered code."""
        return code_of(self.failure)

    def to_envelope(self) -> JsonObject:
        """The envelope with the facts of this error."""
        return render(self.failure, self.facts)

    def facts_within(self, boundary: Facts) -> Facts:
        """The facts of the boundary; those that it does not know are taken from this error (S9)."""
        own = asdict(self.facts)
        return replace(boundary, **{name: value or own[name] for name, value in asdict(boundary).items()})

    @classmethod
    def from_unknown(
        cls, raised: object, facts: Facts, *, error_code: str = "UNKNOWN_TOOL_FAILURE", human_message: str | None = None
    ) -> GovernedError:
        """From anything that was raised: a failure is kept, anything else becomes the cause.

        Raises KeyError if the code is not registered.
        """
        refused = _as_refused(raised)
        if refused is not None:
            own = refused.facts_within(facts) if isinstance(refused, GovernedError) else facts
            return cls(refused.failure, own)
        return cls(_failure(error_code, human_message, cause=raised), facts)

    @classmethod
    def invariant_violation(
        cls, invariant_id: str, facts: Facts, *, human_message: str | None = None, cause: object = None
    ) -> GovernedError:
        """A product invariant is violated. Raises KeyError if the id is unknown."""
        meaning = INVARIANTS[invariant_id]
        text = human_message or f"Invariant violated: {meaning}"
        return cls(_failure("INVARIANT_VIOLATION", text, cause=cause, invariant_id=invariant_id), facts)

    @classmethod
    def tool_failure(
        cls,
        error_code: str,
        facts: Facts,
        *,
        human_message: str | None = None,
        cause: object = None,
        invariant_id: str | None = None,
    ) -> GovernedError:
        """A failure with a code that the tool chose. Raises KeyError if the code is not registered."""
        return cls(_failure(error_code, human_message, cause=cause, invariant_id=invariant_id), facts)

    @classmethod
    def startup_failure(
        cls, error_code: str, facts: Facts, *, human_message: str | None = None, cause: object = None
    ) -> GovernedError:
        """A failure before any session exists. Raises KeyError if the code is not registered."""
        before = replace(facts, tool=STARTUP, role=None, session_id=None, workspace_root=None)
        return cls(_failure(error_code, human_message, cause=cause), before)


def _as_refused(raised: object) -> Refused | None:
    """Narrow to Refused by type: `isinstance` also reads `__class__` of the object, which may raise."""
    return cast("Refused", raised) if issubclass(type(raised), Refused) else None


def _failure(error_code: str, human_message: str | None, *, cause: object, invariant_id: str | None = None) -> Failure:
    if error_code not in SYSTEM_ERROR_CODES:
        raise KeyError(error_code)
    return fail(error_code, text=human_message, cause=plain(cause), invariant_id=invariant_id)
