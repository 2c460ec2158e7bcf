"""What the cases run against: our own server, and the guard in front of the same server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from tests.fixtures.guards import GuardHttpProcess, GuardStdioProcess
from tests.fixtures.live import HttpProcess, StdioProcess, command, serve_http
from tests.protocol.messages import opened

HARD = "hard:server"


@dataclass(frozen=True, slots=True)
class Subject:
    """What the cases run against."""

    stdio: Callable[[], StdioProcess]
    http: Callable[[], HttpProcess]


@pytest.fixture(scope="module", params=["server", "guard with a stdio upstream", "guard with an HTTP upstream"])
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    if request.param == "server":
        yield Subject(lambda: StdioProcess(HARD), lambda: HttpProcess(HARD))
    elif request.param == "guard with a stdio upstream":
        upstream = ("--", *command(HARD, "--stdio"))
        yield Subject(lambda: GuardStdioProcess("", *upstream), lambda: GuardHttpProcess("", *upstream))
    else:
        with serve_http(HARD) as server:
            upstream = ("--upstream-http", server.url)
            yield Subject(lambda: GuardStdioProcess("", *upstream), lambda: GuardHttpProcess("", *upstream))


@pytest.fixture(scope="module")
def http(subject: Subject) -> Iterator[HttpProcess]:
    process = subject.http()
    yield process
    process.close()


@pytest.fixture(scope="module")
def session(http: HttpProcess) -> dict[str, str]:
    """The headers of a session that is shared by cases that leave nothing behind."""
    return http.open_session()


@pytest.fixture(scope="module")
def stdio(subject: Subject) -> Iterator[StdioProcess]:
    """A connection with an open session, for cases that leave nothing behind."""
    with subject.stdio() as process:
        yield opened(process)


@pytest.fixture
def fresh(subject: Subject) -> Iterator[StdioProcess]:
    """A connection of the test's own."""
    with subject.stdio() as process:
        yield process
