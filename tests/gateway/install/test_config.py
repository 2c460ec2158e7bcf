"""A client's configuration is rewritten to start the guard, and restored."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from strictwire.canon.json import parse_object, render
from strictwire.gateway.install.config import install, uninstall
from strictwire.sources.client_config import CLIENTS, ConfigRefused

GUARD = ["/opt/bin/strictwire"]
FILES: dict[str, Any] = {"command": "npx", "args": ["-y", "server-files", "/data"], "env": {"KEY": "v"}}
CURSOR = CLIENTS["cursor"]
CODEX = CLIENTS["codex"]
TOML = """model = "x"

[mcp_servers.files]
# started by npx
command = "npx"
args = ["-y", "server-files", "/data"]

[mcp_servers.files.env]
KEY = "v"

[mcp_servers."with space"]
command = "plain"

[other]
args = [1]
"""


def test_every_command_is_put_behind_the_guard_and_the_rest_stays() -> None:
    config = {"theme": "dark", "mcpServers": {"files": FILES, "far": {"url": "https://x/mcp"}, "odd": 5}}
    done = install(render(config), CURSOR, GUARD, toml=False)
    words = ["guard", "--name", "files", "--", "npx", "-y", "server-files", "/data"]

    assert parse_object(done.text) == {
        "theme": "dark",
        "mcpServers": {**config["mcpServers"], "files": {**FILES, "command": GUARD[0], "args": words}},  # type: ignore[dict-item]
    }
    assert done.changed == ("files",)
    assert sorted(done.left) == ["far", "odd"]


@pytest.mark.parametrize("entry", [FILES, {"command": "plain"}, {"command": "x", "args": ["--", "guard"]}])
@pytest.mark.parametrize("guard", [GUARD, ["/usr/bin/python", "-m", "strictwire"]])
def test_uninstall_restores_the_configuration(entry: dict[str, Any], guard: list[str]) -> None:
    config = {"mcpServers": {"one": entry}}
    there = install(render(config), CURSOR, guard, toml=False)
    back = uninstall(there.text, CURSOR, toml=False)

    assert parse_object(there.text) != config
    assert parse_object(back.text) == config


def test_a_second_install_changes_nothing() -> None:
    once = install(render({"mcpServers": {"one": FILES}}), CURSOR, GUARD, toml=False)
    twice = install(once.text, CURSOR, GUARD, toml=False)

    assert twice.text == once.text
    assert twice.left == {"one": "it is behind the guard already"}


def test_toml_keeps_its_comments_and_every_other_line() -> None:
    there = install(TOML.encode(), CODEX, GUARD, toml=True)
    back = uninstall(there.text, CODEX, toml=True)
    servers = tomllib.loads(there.text.decode())["mcp_servers"]

    assert there.changed == ("files", "with space")
    assert servers["with space"]["args"] == ["guard", "--name", "with space", "--", "plain"]
    assert b"# started by npx" in there.text
    assert tomllib.loads(back.text.decode()) == tomllib.loads(TOML)


def test_toml_in_an_unsupported_layout_is_refused() -> None:
    raw = b'[mcp_servers.files]\ncommand = "npx"\nargs = [\n  "a",\n]\n'

    with pytest.raises(ConfigRefused, match="line of their own"):
        install(raw, CODEX, GUARD, toml=True)


@pytest.mark.parametrize(
    ("raw", "toml"), [(b'{"mcpServers": {}} // x', False), (b'{"mcpServers": []}', False), (b"= x", True)]
)
def test_an_unreadable_configuration_is_refused(raw: bytes, *, toml: bool) -> None:
    with pytest.raises(ConfigRefused):
        install(raw, CURSOR, GUARD, toml=toml)


@pytest.mark.parametrize(
    "words",
    [
        ["/x/notstrictwire", "guard", "--", "y"],
        ["/x/strictwire-evil", "guard", "--", "y"],
        ["/x/strictwire/evil", "guard", "--", "y"],
        ["sh", "strictwire", "guard", "--", "y"],
        ["env", "-S", "strictwire", "guard", "--", "y"],
        ["python", "-m", "notstrictwire", "guard", "--", "y"],
        ["strictwire", "serve", "guard", "--", "y"],
        [
            "strictwire",
            "guard",
            "--",
        ],
    ],
)
def test_only_our_own_command_counts_as_guarded(words: list[str]) -> None:
    """Any other program would keep the server unguarded, and uninstall would take its arguments for a command."""
    config = render({"mcpServers": {"one": {"command": words[0], "args": words[1:]}}})
    done = install(config, CURSOR, GUARD, toml=False)
    left = uninstall(config, CURSOR, toml=False)

    assert parse_object(done.text)["mcpServers"]["one"] == {
        "command": GUARD[0],
        "args": ["guard", "--name", "one", "--", *words],
    }
    assert left.left == {"one": "it is not behind the guard"}


def test_another_program_with_our_name_is_replaced_by_ours() -> None:
    config = render({"mcpServers": {"one": {"command": "/x/strictwire", "args": ["guard", "--mode", "warn", "--", "y"]}}})
    done = install(config, CURSOR, GUARD, toml=False)

    assert parse_object(done.text)["mcpServers"]["one"] == {
        "command": GUARD[0],
        "args": ["guard", "--mode", "warn", "--", "y"],
    }


def test_options_of_the_guard_are_written_before_the_command() -> None:
    config = render({"mcpServers": {"one": {"command": "y"}}})
    done = install(config, CURSOR, GUARD, toml=False, options=["--config", "/a/b.toml"])

    assert parse_object(done.text)["mcpServers"]["one"]["args"] == [
        *("guard", "--config", "/a/b.toml", "--name", "one", "--", "y")
    ]
    assert parse_object(uninstall(done.text, CURSOR, toml=False).text) == parse_object(config)
