"""`strictwire install` on a configuration file."""

from __future__ import annotations

import sys
import tomllib
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


SERVER = "from strictwire import Server\nserver = Server('mine', version='1.0.0')\n"


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "mine.py").write_text(SERVER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("mine", None)
    return "mine:server"


def expected_entry(folder: Path) -> dict[str, object]:
    arguments = ["-m", "strictwire.cli.main", "serve", "mine:server", "--stdio"]
    return {"command": sys.executable, "args": arguments, "env": {"PYTHONPATH": str(folder)}}


def test_the_server_of_an_author_is_added_beside_the_others(config: Path, module: str, tmp_path: Path) -> None:
    assert main(["install", "cursor", module, "--file", str(config)]) == 0

    servers = parse_object(config.read_bytes())["mcpServers"]
    assert servers == {**parse_object(BEFORE)["mcpServers"], "mine": expected_entry(tmp_path)}


def test_it_is_added_to_a_configuration_that_does_not_exist_yet(tmp_path: Path, module: str) -> None:
    path = tmp_path / "new" / "mcp.json"

    assert main(["install", "vscode", module, "--name", "other", "--file", str(path)]) == 0
    assert parse_object(path.read_bytes()) == {"servers": {"other": expected_entry(tmp_path)}}


def test_it_is_added_to_toml_and_comments_stay(tmp_path: Path, module: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "config.toml"
    path.write_text('# mine\nmodel = "x"\n')

    assert main(["install", "codex", module, "--file", str(path)]) == 0
    assert path.read_text().startswith("# mine\n")
    assert tomllib.loads(path.read_text())["mcp_servers"] == {"mine": expected_entry(tmp_path)}
    assert main(["install", "codex", module, "--file", str(path)]) == 0
    assert "mine: not changed (it is there already)" in capsys.readouterr().out


def test_a_server_that_cannot_be_imported_is_not_added(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install", "cursor", "nowhere_at_all:server", "--file", str(config)]) == 2
    assert config.read_bytes() == BEFORE
    assert "there is no module 'nowhere_at_all' here" in capsys.readouterr().err


@pytest.mark.parametrize("guarded", [False, True])
def test_the_server_of_an_author_is_removed_again(config: Path, module: str, guarded: bool) -> None:
    assert main(["install", "cursor", module, "--file", str(config)]) == 0
    assert not guarded or main(["install", "cursor", "--file", str(config)]) == 0
    before = parse_object(config.read_bytes())["mcpServers"]
    Path("mine.py").unlink()  # a server that no longer starts can be removed too

    assert main(["install", "cursor", module, "--uninstall", "--file", str(config)]) == 0
    assert parse_object(config.read_bytes())["mcpServers"] == {"one": before["one"]}


def test_it_is_removed_by_its_name_if_there_are_two(config: Path, module: str, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("first", "second"):
        assert main(["install", "cursor", module, "--name", name, "--file", str(config)]) == 0

    assert main(["install", "cursor", module, "--name", "first", "--uninstall", "--file", str(config)]) == 0
    assert list(parse_object(config.read_bytes())["mcpServers"]) == ["one", "second"]
    capsys.readouterr()
    assert main(["install", "cursor", module, "--name", "first", "--uninstall", "--file", str(config)]) == 0
    assert capsys.readouterr().out == "first: not changed (no server of this configuration runs mine:server)\n"


def test_it_is_removed_from_toml_and_comments_stay(tmp_path: Path, module: str) -> None:
    path = tmp_path / "config.toml"
    others = '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "npx"\n'
    path.write_text(others)
    assert main(["install", "codex", module, "--file", str(path)]) == 0
    path.write_text(path.read_text() + "\n[mcp_servers.mine.extra]\na = 1\n\n# about b\n[b]\nc = [\n  1,\n]\n")

    assert main(["install", "codex", module, "--uninstall", "--file", str(path)]) == 0
    assert path.read_text().startswith(others)
    assert "# about b\n[b]\n" in path.read_text()
    assert tomllib.loads(path.read_text()) == {
        "model": "x",
        "mcp_servers": {"other": {"command": "npx"}},
        "b": {"c": [1]},
    }
