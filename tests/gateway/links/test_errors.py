"""Every way in which a connection can fail has its name for the client."""

from __future__ import annotations

import pytest

from strictwire.client.errors import CannotReach, ClientError, NotUnderstood, ServerGone, TimedOut, TooLarge
from strictwire.gateway.links.errors import _FAILURES, RestartDelayed, failure_of

CASES: list[tuple[ClientError, str, dict[str, object]]] = [
    (CannotReach("cmd", "secret reason"), "UPSTREAM_GONE", {}),
    (ServerGone(3, b"secret stderr"), "UPSTREAM_GONE", {"exitCode": 3}),
    (ServerGone(), "UPSTREAM_GONE", {}),
    (RestartDelayed(1.5), "UPSTREAM_GONE", {"retryAfterMs": 1500}),
    (TooLarge("a line", 8), "CAP_EXCEEDED", {"limitBytes": 8}),
    (TimedOut("x", 2), "TIMEOUT", {"timeoutMs": 2000}),
    (NotUnderstood("r", b"secret raw"), "UPSTREAM_BROKE", {"reason": "not_understood"}),
]


@pytest.mark.parametrize(("error", "code", "details"), CASES)
def test_a_failed_connection_has_a_code_and_shows_nothing_of_the_upstream(
    error: ClientError, code: str, details: dict[str, object]
) -> None:
    failure = failure_of(error)

    assert (failure.code, dict(failure.details)) == (code, details)
    assert "secret" not in repr(failure)


def test_the_table_is_complete() -> None:
    assert set(_FAILURES) == set(ClientError.__subclasses__())
