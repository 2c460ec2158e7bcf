"""What can go wrong on the way to an upstream, and the failure that a client gets for it.

No text of the upstream is in any of these failures.
"""

from __future__ import annotations

from strictwire.client.errors import CannotReach, ClientError, NotUnderstood, ServerGone, TimedOut, TooLarge
from strictwire.fault.failure import Failure, fail


class EraNotSpoken(Exception):
    """The upstream does not speak the stateless era."""

    def __init__(self, *, answered: bool = False) -> None:
        super().__init__(answered)
        self.answered = answered
        """The upstream answered the attempt, so it runs and can be used in the legacy era."""


class RestartDelayed(ClientError):
    """The upstream failed a moment ago and is not started again yet."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds

    def __str__(self) -> str:
        return f"the upstream failed; the next start is in {self.seconds:.1f} s"


class SessionsExhausted(ClientError):
    """Every session that an upstream may have for clients of the other era is in use."""


class StateExpired(ClientError):
    """A client answers the questions of a call that is no longer kept: too late, or a second time."""


def failure_of(error: ClientError) -> Failure:
    """The failure for a connection error."""
    match error:
        case RestartDelayed():
            return _gone(error, retryAfterMs=int(error.seconds * 1000))
        case ServerGone(exit_code=int(code)):
            return _gone(error, exitCode=code)
        case ServerGone() | CannotReach():
            return _gone(error)
        case TooLarge():
            return fail("CAP_EXCEEDED", details={"limitBytes": error.limit})
        case TimedOut():
            return timed_out(error.seconds)
        case SessionsExhausted():
            return fail("OVERLOADED")
        case StateExpired():
            return fail("STATE_REJECTED")
    cause = {"name": type(error).__name__, "message": error.reason if isinstance(error, NotUnderstood) else ""}
    return fail("UPSTREAM_BROKE", details={"reason": "not_understood"}, cause=cause)


def timed_out(seconds: float) -> Failure:
    """No answer in time."""
    return fail("TIMEOUT", details={"timeoutMs": int(seconds * 1000)})


def protocol_broken(reason: str) -> Failure:
    """The upstream broke the protocol; `reason` is a word of ours."""
    return fail("UPSTREAM_BROKE", details={"reason": reason})


def _gone(error: ClientError, **details: int) -> Failure:
    return fail("UPSTREAM_GONE", details=details, cause={"name": type(error).__name__})
