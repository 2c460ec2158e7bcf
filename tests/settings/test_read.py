"""Settings: later sources override earlier ones, and invalid settings are refused with a hint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from strictwire.settings.guard_model import GuardSettings
from strictwire.settings.model import AuditSettings, LogSettings, ServerSettings, Settings, TokenSettings
from strictwire.settings.places import state_folder
from strictwire.settings.read import SettingsRefused, read_settings


def read(tmp_path: Path, text: str = "", environment: dict[str, str] | None = None, **flags: Any) -> Settings:
    file = tmp_path / "strictwire.toml"
    file.write_text(text, encoding="utf-8")
    return read_settings(file=file, environment=environment or {}, flags=flags)


def test_without_a_file_and_variables_the_defaults_apply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert read_settings(file=None, environment={}) == Settings()


def test_the_file_of_the_working_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "strictwire.toml").write_text("[log]\nlevel = 'debug'\n")

    assert read_settings(file=None, environment={}).log == LogSettings(level="debug")


def test_a_later_source_overrides_single_keys(tmp_path: Path) -> None:
    text = "[server]\nport = 1\nhost = 'a'\ntier = 'pro'\n"
    found = read(tmp_path, text, {"STRICTWIRE_SERVER_PORT": "2", "STRICTWIRE_SERVER_HOST": "b"}, server={"port": 3})

    assert found.server == ServerSettings(port=3, host="b", tier="pro")


def test_every_setting_can_be_set_in_the_file(tmp_path: Path) -> None:
    text = f"""
        [server]
        allowed_origins = ["https://a.example"]
        [[server.tokens]]
        sha256 = "{"aB" * 32}"
        principal = "ann"
        [audit]
        mode = "batched"
        [packs.context]
        anything = {{ goes = [1] }}
        [lint]
        rulesets = ["v1"]
    """
    token = TokenSettings(sha256="aB" * 32, principal="ann")

    assert read(tmp_path, text) == Settings(
        server=ServerSettings(allowed_origins=("https://a.example",), tokens=(token,)),
        audit=AuditSettings(mode="batched"),
        packs={"context": {"anything": {"goes": [1]}}},
        lint={"rulesets": ["v1"]},
    )


def test_variables_are_parsed_by_the_type_of_their_setting(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        environment={
            "STRICTWIRE_SERVER_ALLOWED_HOSTS": "a.example, b.example,",
            "STRICTWIRE_AUDIT_STORE_VALUES": "true",
            "STRICTWIRE_AUDIT_FOLDER": "",
            "STRICTWIRE_AUDIT_MODE": "off",
            "OTHER": "ignored",
        },
    )

    assert found.server.allowed_hosts == ("a.example", "b.example")
    assert found.audit == AuditSettings(mode="off", store_values=True)


def test_guard_tables_have_no_variables_but_its_simple_settings_do(tmp_path: Path) -> None:
    found = read(tmp_path, environment={"STRICTWIRE_GUARD_DRY_RUN": "true", "STRICTWIRE_GUARD_MODE": "warn"})

    assert found.guard == GuardSettings(dry_run=True, mode="warn")
    with pytest.raises(SettingsRefused, match="unknown setting"):
        read(tmp_path, environment={"STRICTWIRE_GUARD_UPSTREAMS": "x"})


@pytest.mark.parametrize(("value", "on"), [("true", True), ("false", False), ("1", False), ("TRUE", False)])
def test_only_the_variable_debug_stack_enables_stack_traces(tmp_path: Path, value: str, on: bool) -> None:
    assert read(tmp_path, environment={"DEBUG_STACK": value}).debug_stack is on
    with pytest.raises(SettingsRefused):
        read(tmp_path, "debug_stack = true\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[sever]\nport = 1", "unknown setting 'sever'; did you mean 'server'?"),
        ("[server]\nprot = 1", "unknown setting 'server.prot'; did you mean 'server.port'?"),
        ("[server]\nzzz = 1", "unknown setting 'server.zzz'; known: host, port"),
        (f"[[server.tokens]]\nsha265 = '{'0' * 64}'\nprincipal = 'p'", "did you mean 'server.tokens.sha256'?"),
        ("[server]\nport = '1'", "$.server.port"),
        ("[server]\nport = 1.0", "$.server.port"),
        ("[server]\nport = true", "$.server.port"),
        ("[server]\nport = 65536", "port: expected a number from 0 to 65535"),
        ("[server]\nport = -1", "port: expected a number from 0 to 65535"),
        ("[server]\nmax_request_bytes = 0", "max_request_bytes: expected"),
        ("[server]\nworker_threads = 0", "worker_threads: expected"),
        ("[audit]\nmode = 'sometimes'", "$.audit.mode"),
        ("[log]\nlevel = 'loud'", "$.log.level"),
        ("[[server.tokens]]\nprincipal = 'p'", "sha256"),
        ("[[server.tokens]]\nsha256 = 'my-secret'\nprincipal = 'p'", "expected 64 hexadecimal digits"),
        ("server = 5", "server"),
        ("[server", "strictwire.toml"),
        ("a = 1\na = 2", "strictwire.toml"),
    ],
)
def test_an_invalid_file_is_refused_with_a_hint(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(SettingsRefused) as caught:
        read(tmp_path, text)

    assert words in str(caught.value)
    assert "my-secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("STRICTWIRE_SERVER_PROT", "1", "did you mean 'STRICTWIRE_SERVER_PORT'?"),
        ("STRICTWIRE_SERVER_TOKENS", "x", "unknown setting"),
        ("STRICTWIRE_SERVER_PORT", "", "expected an integer"),
        ("STRICTWIRE_SERVER_PORT", "--5", "expected an integer"),
        ("STRICTWIRE_SERVER_PORT", "\u0661", "expected an integer"),
        ("STRICTWIRE_SERVER_PORT", "9" * 5000, "expected an integer"),
        ("STRICTWIRE_AUDIT_STORE_VALUES", "yes", "expected true or false"),
        ("STRICTWIRE_", "x", "unknown setting"),
    ],
)
def test_an_invalid_variable_is_refused_with_a_hint(tmp_path: Path, name: str, value: str, words: str) -> None:
    with pytest.raises(SettingsRefused, match=words.replace("?", r"\?")):
        read(tmp_path, environment={name: value})


def test_a_section_that_is_not_a_table_is_refused_even_if_a_variable_adds_to_it(tmp_path: Path) -> None:
    with pytest.raises(SettingsRefused, match="must be a table"):
        read(tmp_path, "server = 5", {"STRICTWIRE_SERVER_PORT": "1"})


def test_a_file_given_by_the_user_must_exist_and_be_utf_8(tmp_path: Path) -> None:
    with pytest.raises(SettingsRefused, match="cannot read the file"):
        read_settings(file=tmp_path / "nope.toml", environment={})
    with pytest.raises(SettingsRefused, match="cannot read the file"):
        read_settings(file=tmp_path, environment={})
    (tmp_path / "bad.toml").write_bytes(b"a = '\xff'")
    with pytest.raises(SettingsRefused, match="cannot read the file"):
        read_settings(file=tmp_path / "bad.toml", environment={})


def test_the_state_folder_is_in_the_users_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    assert state_folder({"HOME": "/h"}) == Path("/h/.local/state/strictwire")
    assert state_folder({"HOME": "/h", "XDG_STATE_HOME": "/s"}) == Path("/s/strictwire")
    monkeypatch.setattr("sys.platform", "darwin")
    assert state_folder({"HOME": "/h"}) == Path("/h/Library/Application Support/strictwire")
