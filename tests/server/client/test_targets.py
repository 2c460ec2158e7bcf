"""Targets: short forms, the environment of a process, and secrets that stay out of sight."""

from __future__ import annotations

import asyncio
import sys

import pytest

from strictwire import Client, Http, InMemory, Server, Stdio
from strictwire.client.errors import CannotReach, ServerGone
from strictwire.server.client.targets import target_of

SHOW = "import os, sys; sys.stderr.write(' '.join(sorted(os.environ))); sys.exit(0)"


def test_short_forms() -> None:
    server = Server("s", version="1")

    assert target_of(["a", "b"]) == Stdio(("a", "b"))
    assert target_of("https://example.com/mcp") == Http("https://example.com/mcp")
    assert target_of(server) is server
    assert target_of(made := InMemory(server)) is made


def test_a_process_inherits_no_variables_that_may_be_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "secret")
    seen = bytearray()

    async def main() -> None:
        target = Stdio([sys.executable, "-c", SHOW], env={"GIVEN": "1"})
        with pytest.raises(ServerGone):  # it is no MCP server
            async with asyncio.timeout(20), Client(target, on_stderr=seen.extend):
                pass

    asyncio.run(main())

    names = set(seen.decode().split())
    assert "GIVEN" in names
    assert "PATH" in names
    assert "MY_API_KEY" not in names


def test_secrets_are_in_no_repr() -> None:
    targets = [Http("http://h/", token="t0ken", headers={"K": "s3cret"}), Stdio(["x"], env={"K": "s3cret"})]

    assert "t0ken" not in repr(targets)
    assert "s3cret" not in repr(targets)


def test_a_url_with_a_password_and_a_token_is_refused_without_showing_either() -> None:
    async def main() -> str:
        with pytest.raises(CannotReach) as caught:
            async with Client(Http("http://me:hunter2@127.0.0.1:1/mcp", token="t0ken")):
                pass
        return str(caught.value)

    shown = asyncio.run(main())

    assert shown == "cannot reach http://127.0.0.1:1/mcp: it has a user or password, and there is a token; use one of them"


@pytest.mark.parametrize("command", [[], ["no-such-program-anywhere"], ["a\0b"]])
def test_a_command_that_does_not_start_cannot_be_reached(command: list[str]) -> None:
    async def main() -> None:
        with pytest.raises(CannotReach):
            async with Client(command):
                pass

    asyncio.run(main())
