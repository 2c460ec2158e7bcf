"""Who may speak to an HTTP endpoint: Host, Origin, token, media types; and that nobody listens to the world by accident."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from strictwire.fault.failure import fail
from strictwire.pipeline.call import Caller
from strictwire.profiles.endpoint import Headers
from strictwire.transport.http.gatekeeper import Gatekeeper, Token
from tests.fixtures.live import (
    SERVERS,
    HttpProcess,
    command,
    initialize,
    legacy,
    modern,
    modern_headers,
    request,
    run,
    serve_http,
)

OURS = Gatekeeper()
HOST = ("Host", "127.0.0.1:8808")


def judged(*pairs: tuple[str, str], by: Gatekeeper = OURS) -> object:
    return by.admit(Headers(pairs))


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:65535", "[::1]", "[::1]:8808"])
def test_names_of_this_machine_are_ours(host: str) -> None:
    assert judged(("Host", host)) == Caller()


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "localhost:3441.evil.com",
        "localhost:",
        "localhost:x",
        "localhost:123456",
        "evil@localhost",
        "localhost/evil",
        "localhost evil",
        "127.0.0.1.evil.example",
        "127.0.0.2",
        "0.0.0.0",
        "::1",
        "",
        " ",
        "localhost,evil.example",
    ],
)
def test_any_other_name_is_not(host: str) -> None:
    assert judged(("Host", host)) == fail("HOST_DENIED")


def test_a_host_is_named_exactly_once() -> None:
    assert judged() == fail("HOST_DENIED")
    assert judged(HOST, HOST) == fail("HOST_DENIED")


def test_hosts_and_origins_of_the_settings_are_allowed() -> None:
    wide = Gatekeeper(hosts=frozenset({"tools.example"}), origins=frozenset({"https://app.example"}))

    assert judged(("Host", "tools.example:443"), ("Origin", "https://app.example"), by=wide) == Caller()
    assert judged(("Host", "tools.example"), ("Origin", "https://tools.example"), by=wide) == Caller()
    assert judged(("Host", "tools.example"), ("Origin", "https://app.example.evil"), by=wide) == fail("ORIGIN_DENIED")


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "",
        "file://",
        "http://127.0.0.1:8808.evil.example",
        "http://127.0.0.1:9999",
        "http://evil.example#127.0.0.1:8808",
        "http://evil@127.0.0.1:8808",
        "http://127.0.0.1:8808/",
        "javascript://127.0.0.1:8808",
    ],
)
def test_a_page_of_another_origin_is_denied(origin: str) -> None:
    assert judged(HOST, ("Origin", origin)) == fail("ORIGIN_DENIED")


def test_the_page_that_we_serve_ourselves_may_call_and_two_origins_may_not() -> None:
    ours = ("Origin", "http://127.0.0.1:8808")

    assert judged(HOST, ours) == Caller()
    assert judged(HOST, ours, ours) == fail("ORIGIN_DENIED")


SECRET = "a-very-secret-token"
TOKEN = Token(sha256=hashlib.sha256(SECRET.encode()).hexdigest(), principal="ann", role="WINDSURF", tier="pro")
LOCKED = Gatekeeper(tokens=(Token(sha256="0" * 64, principal="bob"), TOKEN))


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_a_token_says_who_calls(scheme: str) -> None:
    given = ("Authorization", f"{scheme} {SECRET}")

    assert judged(HOST, given, by=LOCKED) == Caller(principal="ann", role="WINDSURF", tier="pro")


@pytest.mark.parametrize(
    "given",
    [
        [],
        [("Authorization", "")],
        [("Authorization", "Bearer")],
        [("Authorization", "Bearer ")],
        [("Authorization", "Bearer wrong")],
        [("Authorization", SECRET)],
        [("Authorization", f"Basic {SECRET}")],
        [("Authorization", f"Bearer {TOKEN.sha256}")],
        [("Authorization", f"Bearer {SECRET}x")],
        [("Authorization", f"Bearer {SECRET}"), ("Authorization", f"Bearer {SECRET}")],
        [("Authorization", "Bearer \xe9")],
    ],
)
def test_anything_but_one_good_token_is_refused(given: list[tuple[str, str]]) -> None:
    assert judged(HOST, *given, by=LOCKED) == fail("UNAUTHENTICATED")


def test_a_stranger_is_refused_before_a_token_is_looked_at() -> None:
    assert judged(("Host", "evil.example"), by=LOCKED) == fail("HOST_DENIED")


# Over the wire.

ADD = modern(1, "tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})
ORIGIN = "https://app.example"


@pytest.fixture(scope="module", params=SERVERS)
def locked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpProcess]:
    """A server with two tokens and an allowed origin."""
    config = tmp_path_factory.mktemp("locked") / "strictwire.toml"
    other = hashlib.sha256(b"other").hexdigest()
    config.write_text(
        f'[server]\nallowed_origins = ["{ORIGIN}"]\n'
        f'[[server.tokens]]\nsha256 = "{TOKEN.sha256}"\nprincipal = "ann"\n'
        f'[[server.tokens]]\nsha256 = "{other}"\nprincipal = "bob"\n'
    )
    with serve_http("hard:server", "--config", str(config), by=request.param) as process:
        yield process


def test_without_a_token_there_is_no_answer(locked: HttpProcess) -> None:
    refused = locked.ask(ADD)
    served = locked.ask(ADD, Authorization=f"Bearer {SECRET}")

    assert (refused.status, refused.json()["code"], refused.headers["WWW-Authenticate"]) == (
        401,
        "UNAUTHENTICATED",
        "Bearer",
    )
    assert served.status == 200


def test_a_session_belongs_to_whoever_opened_it(locked: HttpProcess) -> None:
    ann, bob = {"Authorization": f"Bearer {SECRET}"}, {"Authorization": "Bearer other"}
    session = {"Mcp-Session-Id": locked.post(initialize(), ann).headers["Mcp-Session-Id"]}
    own, stolen = (
        locked.post(legacy(1, "ping"), {**ann, **session}),
        locked.post(legacy(1, "tools/list"), {**bob, **session}),
    )

    assert (own.status, stolen.status, stolen.json()["error"]["data"]["code"]) == (200, 404, "SESSION_UNKNOWN")
    with locked.connect() as connection:
        connection.write(request(b"", {**bob, **session}, port=locked.port, verb="DELETE"))
        assert connection.answer("DELETE").status == 404
    assert locked.post(legacy(2, "ping"), {**ann, **session}).status == 200


def test_a_browser_may_ask_leave_without_a_token(locked: HttpProcess) -> None:
    asked = {
        "Origin": ORIGIN,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization, mcp-param-region, x-evil",
    }
    with locked.connect() as connection:
        connection.write(request(b"", asked, port=locked.port, verb="OPTIONS", defaults={}))
        leave = connection.answer("OPTIONS")

    assert (leave.status, leave.body, leave.headers["Access-Control-Allow-Origin"]) == (204, b"", ORIGIN)
    allowed = {name.strip().lower() for name in leave.headers["Access-Control-Allow-Headers"].split(",")}
    assert {"authorization", "mcp-session-id", "mcp-method", "mcp-param-region"} <= allowed
    assert "x-evil" not in allowed


def test_a_page_of_another_origin_gets_no_leave(locked: HttpProcess) -> None:
    with locked.connect() as connection:
        connection.write(request(b"", {"Origin": "https://evil.example"}, port=locked.port, verb="OPTIONS"))
        refused = connection.answer("OPTIONS")

    assert (refused.status, refused.headers["Access-Control-Allow-Origin"]) == (403, None)


def test_an_allowed_page_can_read_its_answer_and_its_session(locked: HttpProcess) -> None:
    answer = locked.ask(ADD, Authorization=f"Bearer {SECRET}", Origin=ORIGIN)

    shown = [answer.headers[name] for name in ("Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Vary")]
    assert (answer.status, shown) == (200, [ORIGIN, "Mcp-Session-Id", "Origin"])


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "localhost:3441.evil.com"}, 421),
        ({"Host": "evil.example"}, 421),
        ({"Host": None}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
def test_strangers_are_refused_over_the_wire(either: HttpProcess, headers: dict[str, str | None], status: int) -> None:
    answer = either.post(ADD, {**modern_headers(ADD), **headers})  # type: ignore[dict-item]

    assert answer.status == status


@pytest.mark.slow
@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.org:0"])
def test_an_address_that_others_can_reach_needs_a_token(address: str) -> None:
    done = run(command("hard:server", "--http", address))

    assert done.returncode == 1
    assert b"can be reached by others: add a [[server.tokens]] table" in done.stderr
    assert b'"error_code":"BOOTSTRAP_FAILURE"' in done.stderr


def test_with_a_token_any_address_will_do(tmp_path: Path) -> None:
    config = tmp_path / "strictwire.toml"
    config.write_text(f'[[server.tokens]]\nsha256 = "{TOKEN.sha256}"\nprincipal = "ann"\n')
    with serve_http("hard:server", "--http", "0.0.0.0:0", "--config", str(config)) as process:
        assert process.ask(ADD, Authorization=f"Bearer {SECRET}").status == 200
        assert process.ask(ADD).status == 401
