"""How strictly one upstream is held to its contract, and what a failed connection is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.client.errors import CannotReach, ClientError, NotUnderstood, ServerGone, TimedOut, TooLarge
from strictwire.contract.tool import Caps
from strictwire.fault.failure import Failure, fail
from strictwire.gateway.links.errors import Crowded, StateGone
from strictwire.gateway.links.upstream import TooSoon


class Mode(StrEnum):
    """What happens when arguments or answers do not fit the contract."""

    OBSERVE = "observe"
    """Relayed; noted in the log at level info."""
    WARN = "warn"
    """Relayed; a warning in the log."""
    ENFORCE = "enforce"
    """Refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The terms of one upstream, or of one of its tools."""

    mode: Mode = Mode.ENFORCE
    silence_seconds: float = 60.0
    """How long a call may go without a word; progress, log messages and questions are words."""
    total_seconds: float = 600.0
    """How long a call may take in all. A person who is asked something has this long to answer."""
    proof_seconds: float = 5.0
    """After a call that was given up: how long a process has to show that it still answers. Otherwise it is ended."""
    response_bytes: int = 4 * 1024 * 1024
    """Size of one answer."""
    concurrency: int = 1024
    """Calls that may run at once."""
    mask: bool = True
    """Whether secrets, stack traces and paths are taken out of error texts."""
    bridge: bool = True
    """Whether clients of an era that the upstream does not speak are served all the same."""
    tier: str = "core"
    """The lowest tier of callers that may use the tools."""
    roles: frozenset[str] = frozenset()
    """Roles that may use the tools; empty: any."""
    tools: Mapping[str, Terms] = field(default_factory=lambda: NO_TOOLS)
    """Tools with terms of their own, by the upstream's names."""

    @property
    def caps(self) -> Caps:
        """The bounds as the stages of `pipeline` know them."""
        return Caps(
            timeout_ms=int(self.total_seconds * 1000),
            response_bytes=self.response_bytes,
            concurrency=self.concurrency,
        )

    def of_tool(self, name: str) -> Terms:
        """The terms of one tool."""
        return self.tools.get(name, self)


NO_TOOLS: Final[Mapping[str, Terms]] = MappingProxyType({})


def failure_of(error: ClientError) -> Failure:
    """What the client is told when a connection fails. The reason is ours; nothing the upstream wrote is in it."""
    make = next((make for kind, make in _FAILURES.items() if isinstance(error, kind)), _broke)
    return make(error)


def timed_out(seconds: float) -> Failure:
    """No answer in time."""
    return fail("TIMEOUT", details={"timeoutMs": int(seconds * 1000)})


def broke(reason: str) -> Failure:
    """The upstream broke the protocol in a way that has a name."""
    return fail("UPSTREAM_BROKE", details={"reason": reason})


def _gone(error: ClientError) -> Failure:
    details: JsonObject = {}
    if isinstance(error, TooSoon):
        details["retryAfterMs"] = int(error.seconds * 1000)
    if isinstance(error, ServerGone) and error.exit_code is not None:
        details["exitCode"] = error.exit_code
    return fail("UPSTREAM_GONE", details=details, cause={"name": type(error).__name__})


def _too_large(error: ClientError) -> Failure:
    limit = error.limit if isinstance(error, TooLarge) else 0
    return fail("CAP_EXCEEDED", details={"limitBytes": limit})


def _late(error: ClientError) -> Failure:
    return timed_out(error.seconds if isinstance(error, TimedOut) else 0)


def _broke(error: ClientError) -> Failure:
    cause = {"name": type(error).__name__, "message": error.reason if isinstance(error, NotUnderstood) else ""}
    return fail("UPSTREAM_BROKE", details={"reason": "not_understood"}, cause=cause)


_FAILURES: Final[Mapping[type[ClientError], Callable[[ClientError], Failure]]] = MappingProxyType(
    {
        CannotReach: _gone,
        ServerGone: _gone,
        TooSoon: _gone,
        TooLarge: _too_large,
        TimedOut: _late,
        NotUnderstood: _broke,
        Crowded: lambda _error: fail("OVERLOADED"),
        StateGone: lambda _error: fail("STATE_REJECTED"),
    }
)
"""Every kind of failed connection; a test holds it complete."""
