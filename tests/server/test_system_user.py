"""The principal over stdio is the operating system user, whatever the environment variables say."""

from __future__ import annotations

import os
import pwd

import pytest

from strictwire.server.compose import gatekeeper_of
from strictwire.server.system_user import system_user
from strictwire.settings.model import ServerSettings


def test_the_user_name_does_not_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("USER", "LOGNAME", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "another-user")

    assert system_user() == pwd.getpwuid(os.getuid()).pw_name


def test_a_user_without_a_name_is_identified_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_001)

    assert system_user() == "uid:4000000001"


def test_a_caller_over_http_without_a_token_is_not_the_operating_system_user() -> None:
    assert gatekeeper_of(ServerSettings()).anonymous.principal == "local"
