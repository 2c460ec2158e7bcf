"""Servers on the command line, and what is said about one that cannot be loaded."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from strictwire.cli.main import main
from strictwire.cli.target import TargetRefused, is_module, load_server, serve_command

GOOD = "from strictwire import Server\nserver = Server('good', version='1.0.0')\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def write(project: Path, name: str, text: str) -> str:
    (project / f"{name}.py").write_text(text)
    sys.modules.pop(name, None)
    return f"{name}:server"


def test_a_server_is_loaded_by_module_and_name(project: Path) -> None:
    assert load_server(write(project, "target_good", GOOD)).identity.name == "good"


@pytest.mark.parametrize(
    ("text", "message", "exit_code", "traceback"),
    [
        ("import nothing_like_this\n", "imports 'nothing_like_this', which is not installed; run: pip install", 1, True),
        ("x = 1 // 0\n", "raised ZeroDivisionError: integer division or modulo by zero", 1, True),
        ("server = 5\n", "is a int, not a strictwire.Server", 2, False),
        (GOOD.replace("server =", "sever ="), "has no 'server'; did you mean target_bad:sever?", 2, False),
        ("", "has no 'server'; add `server = Server(...)` to it", 2, False),
    ],
)
def test_a_server_that_cannot_be_loaded_is_explained(
    text: str, message: str, exit_code: int, traceback: bool, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(project, "target_bad", text)

    with pytest.raises(TargetRefused) as refused:
        load_server(path)

    errors = capsys.readouterr().err
    assert message in str(refused.value)
    assert refused.value.exit_code == exit_code
    assert (f'target_bad.py", line 1, in <module>\n    {text.strip()}' in errors) is traceback
    assert "importlib" not in errors


def test_a_missing_module_is_wrong_usage(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(TargetRefused, match="there is no module 'target_missing' here") as refused:
        load_server("target_missing:server")

    assert refused.value.exit_code == 2
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("given", "advice"), [("shop.py:server", "shop:server"), ("app/shop.py:mcp", "app.shop:mcp")])
def test_a_file_instead_of_a_module_is_wrong_usage_with_what_to_write(project: Path, given: str, advice: str) -> None:
    with pytest.raises(TargetRefused) as refused:
        load_server(given)

    assert str(refused.value) == f"{given!r}: expected MODULE:NAME, not a file; write {advice}"


def test_modules_files_and_commands_are_told_apart(project: Path) -> None:
    (project / "server.py").write_text(GOOD)

    assert (is_module("a.b:c"), is_module("a:"), is_module("npx -y x"), is_module("C:/x"), is_module("http://h")) == (
        True, True, False, False, False,
    )  # fmt: skip
    assert serve_command("server.py") == [sys.executable, "server.py"]
    assert serve_command("npx -y 'a b'") == ["npx", "-y", "a b"]
    assert serve_command("m:s")[-3:] == ["serve", "m:s", "--stdio"]


@pytest.mark.parametrize("verb", ["lint", "docs", "pin", "freeze"])
def test_every_verb_about_contracts_takes_a_module(verb: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tool = (
        "@server.tool(annotations={'readOnlyHint': False, 'destructiveHint': True})\ndef drop_all() -> None:\n    'Drops.'\n"
    )
    path = write(project, f"target_{verb}", GOOD + tool)

    assert main([verb, path]) == 0

    shown = capsys.readouterr().out
    if verb == "docs":
        assert "Safety: destructive." in shown
    if verb == "freeze":
        assert '"safety": "destructive"' in (project / "schemas" / "tools" / "drop_all.contract.json").read_text()
