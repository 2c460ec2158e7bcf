"""`strictwire install` on a configuration file."""

from __future__ import annotations

from pathlib import Path

import pytest

from strictwire.canon.json import parse_object
from strictwire.cli.main import main

BEFORE = b'{"mcpServers":{"one":{"command":"npx","args":["-y","x"],"env":{"KEY":"v"}}}}'


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "mcp.json"
    path.write_bytes(BEFORE)
    path.chmod(0o600)
    return path


def test_a_dry_run_changes_nothing(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install", "cursor", "--dry-run", "--file", str(config)]) == 0
    assert config.read_bytes() == BEFORE
    assert "one: would be changed" in capsys.readouterr().out


def test_install_keeps_a_backup_and_the_permissions(config: Path) -> None:
    assert main(["install", "cursor", "--file", str(config)]) == 0

    entry = parse_object(config.read_bytes())["mcpServers"]["one"]

    assert entry["args"][:3] == ["guard", "--name", "one"]
    assert config.with_name("mcp.json.before-strictwire").read_bytes() == BEFORE
    assert config.stat().st_mode & 0o777 == 0o600


def test_uninstall_restores_the_original_configuration(config: Path) -> None:
    main(["install", "cursor", "--file", str(config)])

    assert main(["install", "cursor", "--uninstall", "--file", str(config)]) == 0
    assert parse_object(config.read_bytes()) == parse_object(BEFORE)


def test_a_missing_file_is_an_error_with_a_hint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install", "cursor", "--file", str(tmp_path / "none.json")]) == 1
    assert "--file" in capsys.readouterr().err


def test_the_settings_file_is_written_by_its_absolute_path(
    config: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "own.toml").write_text("[guard]\nmode = 'warn'\n")
    monkeypatch.chdir(tmp_path)

    assert main(["install", "cursor", "--file", str(config), "--config", "own.toml"]) == 0
    assert parse_object(config.read_bytes())["mcpServers"]["one"]["args"][:3] == [
        *("guard", "--config", str(tmp_path / "own.toml"))
    ]


def test_a_settings_file_that_the_guard_would_refuse_is_not_installed(
    config: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "own.toml").write_text("[guard]\nmode = 'lax'\n")

    assert main(["install", "cursor", "--file", str(config), "--config", str(tmp_path / "own.toml")]) == 1
    assert config.read_bytes() == BEFORE
    assert "--config: settings" in capsys.readouterr().err
