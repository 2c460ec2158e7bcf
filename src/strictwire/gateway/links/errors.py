"""What can go wrong on the way to an upstream, and the failure that a client gets for it.

No text of the upstream is in any of these failures.
"""

from __future__ import annotations

from strictwire.client.errors import ClientError, NotUnderstood
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

    @property
    def failure(self) -> Failure:
        """UPSTREAM_GONE, with the time of the next start."""
        cause = {"name": type(self).__name__}
        return fail("UPSTREAM_GONE", details={"retryAfterMs": int(self.seconds * 1000)}, cause=cause)


class SessionsExhausted(ClientError):
    """Every session that an upstream may have for clients of the other era is in use."""

    @property
    def failure(self) -> Failure:
        """OVERLOADED."""
        return fail("OVERLOADED")


class StateExpired(ClientError):
    """A client answers the questions of a call that is no longer kept: too late, or a second time."""

    @property
    def failure(self) -> Failure:
        """STATE_REJECTED."""
        return fail("STATE_REJECTED")


def failure_of(error: ClientError) -> Failure:
    """The failure for a connection error. The status of an HTTP response says nothing to a client of the guard."""
    if isinstance(error, NotUnderstood):
        cause = {"name": type(error).__name__, "message": error.reason}
        return fail("UPSTREAM_BROKE", details={"reason": "not_understood"}, cause=cause)
    return error.failure


def timed_out(seconds: float) -> Failure:
    """No answer in time."""
    return fail("TIMEOUT", details={"timeoutMs": int(seconds * 1000)})


def protocol_broken(reason: str) -> Failure:
    """The upstream broke the protocol; `reason` is a word of ours."""
    return fail("UPSTREAM_BROKE", details={"reason": reason})
