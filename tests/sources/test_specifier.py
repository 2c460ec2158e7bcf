"""Sources of every kind, several at once, and what happens if one of them cannot be read."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from strictwire.canon.json import parse_object, render
from strictwire.sources.refused import SourceRefused
from strictwire.sources.specifier import LiveOptions, read_source, read_sources
from tests.sources.project import commit_all, write_project

SERVER = Path(__file__).with_name("broken_server.py")
STRICTWIRE = Path(sys.executable).with_name("strictwire")
DUMP = [{"name": "b", "description": "Does something.", "inputSchema": {"type": "object", "properties": {}}}]


def configure(folder: Path, servers: Mapping[str, Any]) -> Path:
    path = folder / "mcp.json"
    path.write_bytes(render({"mcpServers": dict(servers)}))
    return path


def server(behaviour: str = "correct", **env: str) -> dict[str, Any]:
    return {"command": sys.executable, "args": [str(SERVER), behaviour], "env": env}


def names(folder: Path, text: str) -> list[str]:
    return [each.label.removeprefix(str(folder)) for each in read_sources([text], LiveOptions(environment={})).tools]


def test_all_servers_of_a_configuration_are_read_or_the_one_that_is_named(tmp_path: Path) -> None:
    path = configure(tmp_path, {"one": server(), "two": server()})

    assert names(tmp_path, f"client:{path}") == ["/mcp.json#one", "/mcp.json#two"]
    assert names(tmp_path, f"client:{path}#two") == ["/mcp.json#two"]
    with pytest.raises(SourceRefused, match="there is no server 'three'; servers: one, two"):
        read_sources([f"client:{path}#three"])


def test_a_server_that_does_not_start_is_refused_and_the_others_are_read(tmp_path: Path) -> None:
    path = configure(tmp_path, {"good": server(), "bad": {"command": "/nonexistent/x", "args": ["--api-key", "hunter2"]}})
    read = read_sources([f"client:{path}"], LiveOptions(environment={}))

    assert [each.label for each in read.tools] == [f"{path}#good"]
    assert [each.source for each in read.refused] == [f"{path}#bad"]
    assert "hunter2" not in str(read.refused[0])
    with pytest.raises(SourceRefused, match="#bad"):
        read_source(f"client:{path}", live=LiveOptions(environment={}))


def test_locations_of_a_configured_server_name_the_server(tmp_path: Path) -> None:
    path = configure(tmp_path, {"good": server("malformed-entry")})
    tools = read_source(f"client:{path}", live=LiveOptions(environment={}))

    assert {each.input.file for each in tools.subjects} == {f"{path}#good"}
    assert {each.origin.file for each in tools.read_problems} == {f"{path}#good"}


def test_a_configuration_that_is_not_named_as_one_starts_nothing(tmp_path: Path) -> None:
    """Linting a downloaded file must not run the commands in it."""
    mark = tmp_path / "started"
    path = configure(tmp_path, {"x": {"command": "touch", "args": [str(mark)]}})
    tools = read_source(str(path))

    assert f"use client:{path}" in tools.read_problems[0].message
    assert not mark.exists()


def test_sources_with_tools_of_the_same_name_are_not_merged(tmp_path: Path) -> None:
    dump = tmp_path / "b.json"
    dump.write_bytes(render(DUMP))
    live = f"stdio:{sys.executable} {SERVER} correct"

    assert [each.contract.name for each in read_source([live, str(dump)]).subjects] == ["a", "b"]
    with pytest.raises(SourceRefused, match="the tool 'b' is also in"):
        read_source([str(dump), str(dump)])


def run(folder: Path, *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [str(STRICTWIRE), *words]
    return subprocess.run(command, cwd=folder, input=stdin, capture_output=True, timeout=120, check=False)


def test_lint_reports_several_sources_in_one_report_and_fails_if_one_is_missing(tmp_path: Path) -> None:
    path = configure(tmp_path, {"good": server(), "bad": {"command": "/nonexistent/x"}})
    (tmp_path / "b.json").write_bytes(render(DUMP))
    done = run(tmp_path, "lint", "b.json", f"client:{path}", "--format", "json")
    report = parse_object(done.stdout)

    assert (done.returncode, report["tools"], report["subject"]) == (1, 2, f"b.json, {path}#good")
    assert f"{path}#bad: /nonexistent/x: cannot reach the server".encode() in done.stderr


SHOP = """from strictwire import Server

server = Server("shop", version="1")


@server.tool
def price(item: str) -> int:
    "Returns the price of an item in cents."
    return 1
"""


@pytest.mark.slow
def test_every_verb_takes_a_module_and_standard_input(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(SHOP)
    verbs = ("lint", "docs", "pin", "pin --check", "breaking --against strictwire.lock", "freeze")
    exits = {verb: run(tmp_path, *verb.split(), "shop:server").returncode for verb in verbs}
    piped = run(tmp_path, "lint", "-", stdin=render(DUMP))

    assert exits == dict.fromkeys(verbs, 0)
    assert piped.stdout == b"lint: 0 findings in 1 tool of standard input\n"


def test_a_git_ref_and_a_client_are_not_taken_for_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    write_project(tmp_path)
    commit_all(tmp_path, "v1")
    (tmp_path / ".cursor").mkdir()
    configure(tmp_path / ".cursor", {"one": server()})
    ref, client = run(tmp_path, "lint", "git:v1"), run(tmp_path, "lint", "client:cursor")

    assert (ref.returncode, ref.stdout) == (0, b"lint: 0 findings in 1 tool of git:v1:schemas\n")
    assert client.stdout.endswith(f"in 1 tool of {tmp_path}/.cursor/mcp.json#one\n".encode())


def test_a_token_is_not_sent_to_two_hosts(tmp_path: Path) -> None:
    done = run(tmp_path, "lint", "--http", "http://a.test/mcp", "--http", "http://b.test/mcp", "--header", "X: y")

    assert (done.returncode, b"several hosts" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("option", "value"), [("--token-env", "NOT_SET_AT_ALL"), ("--token-file", "none"), ("--oauth-client-id", "x")]
)
def test_a_missing_token_is_wrong_usage(tmp_path: Path, option: str, value: str) -> None:
    assert run(tmp_path, "lint", "--http", "http://127.0.0.1:9/mcp", option, value).returncode == 2


def test_an_unknown_client_gets_the_names_of_the_known_ones() -> None:
    with pytest.raises(
        SourceRefused, match=r"client:emacs: neither a file nor a known client; clients: claude-desktop,.*cursor"
    ):
        read_source("client:emacs")
