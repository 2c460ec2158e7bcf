"""The servers in the configuration files of MCP clients."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

import pytest

from strictwire.canon.json import render
from strictwire.sources.client_config import ConfigRefused, ConfiguredServer, read_servers

ENVIRONMENT = {"TOKEN": "t0", "HOME": "/home/u"}


def servers(config: Any) -> tuple[ConfiguredServer, ...]:
    return read_servers(render(config), toml=False, environment=ENVIRONMENT)


STDIO = {"command": "npx", "args": ["-y", "files"], "env": {"A": "1"}}
FILES = ConfiguredServer(name="files", command=("npx", "-y", "files"), env={"A": "1"})


@pytest.mark.parametrize(
    "config",
    [
        {"mcpServers": {"files": STDIO}},
        {"servers": {"files": {"type": "stdio", **STDIO}}, "inputs": []},
        {"mcp": {"servers": {"files": STDIO}}},
        {"mcp_servers": {"files": STDIO}},
    ],
    ids=["claude-desktop, cursor", "vscode", "vscode settings", "codex"],
)
def test_every_client_keeps_its_servers_in_a_known_member(config: Any) -> None:
    assert servers(config) == (FILES,)


def test_the_projects_of_claude_code_are_read_and_a_shared_definition_once() -> None:
    config = {
        "mcpServers": {"files": STDIO},
        "projects": {"/work/a": {"mcpServers": {"files": STDIO, "git": {"command": "git-mcp"}}}, "/work/b": {"history": []}},
    }

    assert servers(config) == (FILES, ConfiguredServer(name="/work/a:git", command=("git-mcp",)))


@pytest.mark.parametrize(
    ("entry", "headers"),
    [
        ({"url": "https://h/mcp"}, {}),
        ({"httpUrl": "https://h/mcp", "headers": {"X": "${TOKEN}"}}, {"X": "t0"}),
        (
            {"serverUrl": "https://h/mcp", "headers": {"Authorization": "Bearer ${env:TOKEN}"}},
            {"Authorization": "Bearer t0"},
        ),
        ({"url": "https://h/mcp", "bearer_token_env_var": "TOKEN"}, {"Authorization": "Bearer t0"}),
        ({"url": "https://h/mcp", "http_headers": {"A": "b"}, "env_http_headers": {"X": "TOKEN"}}, {"A": "b", "X": "t0"}),
    ],
)
def test_running_servers_have_a_url_and_headers(entry: dict[str, Any], headers: dict[str, str]) -> None:
    assert servers({"mcpServers": {"far": entry}}) == (ConfiguredServer(name="far", url="https://h/mcp", headers=headers),)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"command": "x", "args": ["${input:token}"]}, "only the client can expand ${input:token}"),
        ({"command": "x", "env": {"K": "${MISSING}"}}, "the environment variable MISSING is not set"),
        ({"command": "x", "args": "one"}, "the entry has neither a command with a list of args nor a url"),
        ({"command": "x", "env": {"K": 1}}, "'env' is not a table of strings"),
    ],
)
def test_a_server_that_cannot_be_started_has_the_reason(entry: dict[str, Any], reason: str) -> None:
    assert servers({"mcpServers": {"a": entry, "files": STDIO}}) == (ConfiguredServer(name="a", refusal=reason), FILES)


def test_defaults_are_expanded_and_disabled_servers_are_left_out() -> None:
    config = {
        "a": {"command": "${NOPE:-node}", "args": ["${userHome}/x"], "cwd": "/srv"},
        "b": {"command": "x", "disabled": True},
        "c": {"command": "x", "enabled": False},
    }

    assert servers({"mcpServers": config}) == (ConfiguredServer(name="a", command=("node", "/home/u/x"), cwd="/srv"),)


def test_json_may_have_comments_and_trailing_commas() -> None:
    raw = b'{// servers\n"servers": {/* all */ "a": {"command": "x", "args": ["//no", ",]"],},},}'

    assert read_servers(raw, toml=False, environment={}) == (ConfiguredServer(name="a", command=("x", "//no", ",]")),)


def test_an_open_comment_takes_linear_time_and_is_refused() -> None:
    with pytest.raises(ConfigRefused):
        read_servers(b'{"servers": {}' + b"/* " * 300_000, toml=False, environment={})


def test_codex_has_toml() -> None:
    raw = b'[mcp_servers.files]\ncommand = "npx"\nargs = ["-y", "files"]\n[mcp_servers.files.env]\nA = "1"\n'

    assert read_servers(raw, toml=True, environment={}) == (FILES,)


@pytest.mark.parametrize("raw", [b"{}", b'{"mcpServers": 1}', b"[", b"{"])
def test_a_file_without_servers_is_refused(raw: bytes) -> None:
    with pytest.raises(ConfigRefused):
        read_servers(raw, toml=False, environment={})


@pytest.mark.parametrize("raw", [b"a=" + b"[" * 100_000, b"a=" + b"9" * 5000, b"a=" + b"{a=" * 5000], ids=["[", "9", "{"])
def test_hostile_toml_is_refused(raw: bytes) -> None:
    with pytest.raises(ConfigRefused, match="the file is not TOML in UTF-8"):
        read_servers(raw, toml=True, environment={})


@pytest.mark.parametrize("repeated", ['\\"', "${", '"', "/*", ", ", "${a:-"])
def test_the_work_for_a_hostile_file_grows_no_faster_than_the_file(repeated: str) -> None:
    """200 KB, where a quadratic pattern takes minutes: one took 1.8 s for 16 KB."""
    hostile = repeated * (200_000 // len(repeated))
    began = time.thread_time()
    for raw in (render({"mcpServers": {"a": {"command": "x", "args": [hostile]}}}), b"{}" + hostile.encode()):
        with suppress(ConfigRefused):
            read_servers(raw, toml=False, environment=ENVIRONMENT)

    assert time.thread_time() - began < 20
