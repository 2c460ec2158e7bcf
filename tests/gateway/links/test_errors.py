"""Every connection error has a failure code for the client."""

from __future__ import annotations

import pytest

from strictwire.client.errors import CannotReach, ClientError, NotUnderstood, RequestFailed, ServerGone, TimedOut, TooLarge
from strictwire.gateway.links.errors import RestartDelayed, SessionsExhausted, StateExpired, failure_of

CASES: list[tuple[ClientError, str, dict[str, object]]] = [
    (CannotReach("cmd", "secret reason"), "UPSTREAM_GONE", {}),
    (ServerGone(3, b"secret stderr"), "UPSTREAM_GONE", {"exitCode": 3}),
    (ServerGone(), "UPSTREAM_GONE", {}),
    (RestartDelayed(1.5), "UPSTREAM_GONE", {"retryAfterMs": 1500}),
    (TooLarge("a line", 8), "CAP_EXCEEDED", {"limitBytes": 8}),
    (TimedOut("x", 2), "TIMEOUT", {"timeoutMs": 2000}),
    (NotUnderstood("r", b"secret raw"), "UPSTREAM_BROKE", {"reason": "not_understood"}),
    (SessionsExhausted(), "OVERLOADED", {}),
    (StateExpired(), "STATE_REJECTED", {}),
]


@pytest.mark.parametrize(("error", "code", "details"), CASES)
def test_a_connection_error_has_a_code_and_no_text_of_the_upstream(
    error: ClientError, code: str, details: dict[str, object]
) -> None:
    failure = failure_of(error)

    assert (failure.code, dict(failure.details)) == (code, details)
    assert "secret" not in repr(failure)


def test_every_connection_error_is_among_the_cases() -> None:
    # RequestFailed is an answer of the server, which only the public client raises; the guard relays answers.
    assert {type(error) for error, _, _ in CASES} == set(ClientError.__subclasses__()) - {RequestFailed}
