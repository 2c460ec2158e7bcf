"""Relative paths of a settings file start at its folder, wherever the guard runs."""

from __future__ import annotations

from pathlib import Path

from strictwire.settings.anchored import anchored
from strictwire.settings.guard_model import GuardSettings, UpstreamSettings
from strictwire.settings.model import AuditSettings, Settings
from strictwire.settings.places import config_file

FOLDER = Path("/etc/own")


def test_paths_are_resolved_and_program_names_are_not() -> None:
    upstreams = {
        "a": UpstreamSettings(command=("bin/server", "data"), lock="a.lock", cwd="work"),
        "b": UpstreamSettings(command=("npx", "x"), lock="/srv/b.lock"),
        "c": UpstreamSettings(url="http://x/mcp"),
    }
    found = anchored(Settings(audit=AuditSettings(folder="trail"), guard=GuardSettings(upstreams=upstreams)), FOLDER)

    assert found.audit == AuditSettings(folder="/etc/own/trail")
    assert found.guard.upstreams == {
        "a": UpstreamSettings(command=("/etc/own/bin/server", "data"), lock="/etc/own/a.lock", cwd="/etc/own/work"),
        "b": UpstreamSettings(command=("npx", "x"), lock="/srv/b.lock"),
        "c": UpstreamSettings(url="http://x/mcp"),
    }


def test_the_users_own_file_is_never_in_the_working_folder() -> None:
    expected = Path("/home/u/.config/strictwire/strictwire.toml")

    assert config_file({"HOME": "/home/u"}) == expected
    assert config_file({"HOME": "/home/u", "XDG_CONFIG_HOME": "relative"}) == expected
    assert config_file({"HOME": "/home/u", "XDG_CONFIG_HOME": "/c"}) == Path("/c/strictwire/strictwire.toml")
