"""`strictwire probe`: targets, exit codes, files and formats."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from strictwire.cli.main import main

FRAGILE = shlex.join([sys.executable, str(Path(__file__).parents[1] / "probe" / "servers" / "fragile.py")])
OWN = Path(__file__).parents[1] / "probe" / "servers" / "own.py"
ONE = ("--only", "TOOL_UNKNOWN", "--budget", "600")


def test_findings_exit_with_100_and_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe", f"{FRAGILE} none", *ONE]) == 100

    text = capsys.readouterr().out
    assert "COERCION: Invalid input is repaired or ignored" in text
    assert "    got:      result 'a' [stdio/legacy]" in text


@pytest.mark.slow
def test_a_module_of_our_own_has_no_findings(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(OWN.parent))
    monkeypatch.setenv("STRICTWIRE_AUDIT_MODE", "off")

    assert main(["probe", "own:server", *ONE]) == 0
    assert "0 findings of the server, 0 of its framework, 2 passed" in capsys.readouterr().out


def test_against_a_saved_run_only_new_findings_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = tmp_path / "saved.json"

    assert main(["probe", f"{FRAGILE} none", *ONE, "--save", str(saved)]) == 100
    assert main(["probe", f"{FRAGILE} none", *ONE, "--against", str(saved)]) == 0
    assert "SINCE THE SAVED RUN: 0 new, 1 unchanged" in capsys.readouterr().out
    assert main(["probe", f"{FRAGILE} none", *ONE, "--only", "METHOD_UNKNOWN", "--against", str(saved)]) == 0
    assert main(["probe", f"{FRAGILE} dies", *ONE, "--only", "METHOD_UNKNOWN", "--against", str(saved)]) == 100
    assert "METHOD_UNKNOWN (NEW)" in capsys.readouterr().out


def test_the_report_is_written_as_a_page_and_in_a_shared_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, sarif = tmp_path / "report.html", tmp_path / "report.sarif"
    arguments = ["--html", str(page), "--format", "sarif", "--output", str(sarif)]

    assert main(["probe", f"{FRAGILE} none", *ONE, *arguments]) == 100
    assert capsys.readouterr().out == ""
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert [each["ruleId"] for each in json.loads(sarif.read_text("utf-8"))["runs"][0]["results"]] == ["TOOL_UNKNOWN"]


@pytest.mark.parametrize("name", ["json", "junit", "github", "codeclimate", "markdown"])
def test_every_format_names_the_finding(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe", f"{FRAGILE} none", *ONE, "--format", name]) == 100
    assert "TOOL_UNKNOWN" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "exit_code", "words"),
    [
        ([], 2, "no server given; name a TARGET"),
        (["a", "--stdio", "b"], 2, "give the server once"),
        (["'a"], 2, "unclosed quote"),
        ([f"{FRAGILE} none", "--only", "NO_SUCH"], 2, "unknown probe: NO_SUCH"),
        ([f"{FRAGILE} none", "--against", "/nowhere/saved.json"], 2, "--against /nowhere/saved.json"),
        ([f"{FRAGILE} none", "--against", str(OWN)], 2, "it is not JSON"),
        ([f"{FRAGILE} none", *ONE, "--html", "/nowhere/report.html"], 1, "/nowhere/report.html"),
        ([f"{FRAGILE} never-starts"], 1, "| settings.toml is missing"),
        (["/nowhere/at/all"], 1, "cannot reach"),
        (["http://127.0.0.1:1/mcp"], 1, "cannot reach"),
    ],
)
def test_what_cannot_run_says_why(
    arguments: list[str], exit_code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["probe", *arguments]) == exit_code
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--budget", "0"], "expected 1 to 3600 seconds"),
        (["--budget", "x"], "expected a number of seconds"),
        (["--tool", "a=[1]"], "expected NAME=JSON with a JSON object"),
        (["--header", "novalue"], "expected NAME:VALUE"),
        (["--token-env", "STRICTWIRE_NO_SUCH_TOKEN"], "the environment variable STRICTWIRE_NO_SUCH_TOKEN is not set"),
    ],
)
def test_wrong_options_exit_with_2(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["probe", "server", *arguments])

    assert words in capsys.readouterr().err


def test_progress_is_shown_on_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    main(["probe", f"{FRAGILE} none", *ONE])

    shown = capsys.readouterr().err
    assert "1/1 stdio/legacy TOOL_UNKNOWN, " in shown
    assert shown.rstrip("\n").endswith("\r\x1b[K")
