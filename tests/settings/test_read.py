"""Settings: the later source wins, and what is wrong is refused with what to do about it."""

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


def test_without_anything_there_are_the_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert read_settings(file=None, environment={}) == Settings()


def test_the_file_of_the_working_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "strictwire.toml").write_text("[log]\nlevel = 'debug'\n")

    assert read_settings(file=None, environment={}).log == LogSettings(level="debug")


def test_the_later_source_wins_key_by_key(tmp_path: Path) -> None:
    text = "[server]\nport = 1\nhost = 'a'\ntier = 'pro'\n"
    found = read(tmp_path, text, {"STRICTWIRE_SERVER_PORT": "2", "STRICTWIRE_SERVER_HOST": "b"}, server={"port": 3})

    assert found.server == ServerSettings(port=3, host="b", tier="pro")


def test_everything_can_be_said_in_the_file(tmp_path: Path) -> None:
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


def test_variables_are_read_by_the_type_of_their_setting(tmp_path: Path) -> None:
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


def test_tables_of_the_guard_have_no_variables_but_its_words_do(tmp_path: Path) -> None:
    found = read(tmp_path, environment={"STRICTWIRE_GUARD_DRY_RUN": "true", "STRICTWIRE_GUARD_MODE": "warn"})

    assert found.guard == GuardSettings(dry_run=True, mode="warn")
    with pytest.raises(SettingsRefused, match="unknown setting"):
        read(tmp_path, environment={"STRICTWIRE_GUARD_UPSTREAMS": "x"})


@pytest.mark.parametrize(("value", "on"), [("true", True), ("false", False), ("1", False), ("TRUE", False)])
def test_stack_traces_are_switched_by_one_variable_alone(tmp_path: Path, value: str, on: bool) -> None:
    assert read(tmp_path, environment={"DEBUG_STACK": value}).debug_stack is on
    with pytest.raises(SettingsRefused):
        read(tmp_path, "debug_stack = true\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[sever]\nport = 1", "unknown setting 'sever'; did you mean 'server'?"),
        ("[server]\nprot = 1", "unknown setting 'server.prot'; did you mean 'server.port'?"),
        ("[server]\nzzz = 1", "unknown setting 'server.zzz'; known here: host, port"),
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
def test_what_is_wrong_in_the_file_is_refused_with_what_to_do(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(SettingsRefused) as caught:
        read(tmp_path, text)

    assert words in str(caught.value)
    assert "my-secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("STRICTWIRE_SERVER_PROT", "1", "did you mean 'STRICTWIRE_SERVER_PORT'?"),
        ("STRICTWIRE_SERVER_TOKENS", "x", "unknown setting"),
        ("STRICTWIRE_SERVER_PORT", "", "expected a whole number"),
        ("STRICTWIRE_SERVER_PORT", "--5", "expected a whole number"),
        ("STRICTWIRE_SERVER_PORT", "\u0661", "expected a whole number"),
        ("STRICTWIRE_SERVER_PORT", "9" * 5000, "expected a whole number"),
        ("STRICTWIRE_AUDIT_STORE_VALUES", "yes", "expected true or false"),
        ("STRICTWIRE_", "x", "unknown setting"),
    ],
)
def test_what_is_wrong_in_a_variable_is_refused_with_what_to_do(tmp_path: Path, name: str, value: str, words: str) -> None:
    with pytest.raises(SettingsRefused, match=words.replace("?", r"\?")):
        read(tmp_path, environment={name: value})


def test_a_section_that_is_no_table_is_refused_even_if_a_variable_adds_to_it(tmp_path: Path) -> None:
    with pytest.raises(SettingsRefused, match="is a table"):
        read(tmp_path, "server = 5", {"STRICTWIRE_SERVER_PORT": "1"})


def test_a_file_that_was_named_must_be_there_and_be_text(tmp_path: Path) -> None:
    with pytest.raises(SettingsRefused, match="cannot be read"):
        read_settings(file=tmp_path / "nope.toml", environment={})
    with pytest.raises(SettingsRefused, match="cannot be read"):
        read_settings(file=tmp_path, environment={})
    (tmp_path / "bad.toml").write_bytes(b"a = '\xff'")
    with pytest.raises(SettingsRefused, match="cannot be read"):
        read_settings(file=tmp_path / "bad.toml", environment={})


def test_files_of_ours_are_kept_in_the_users_state_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    assert state_folder({"HOME": "/h"}) == Path("/h/.local/state/strictwire")
    assert state_folder({"HOME": "/h", "XDG_STATE_HOME": "/s"}) == Path("/s/strictwire")
    monkeypatch.setattr("sys.platform", "darwin")
    assert state_folder({"HOME": "/h"}) == Path("/h/Library/Application Support/strictwire")
