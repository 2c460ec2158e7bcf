"""The command line: every verb has help with examples, and wrong usage prints what to do."""

from __future__ import annotations

import importlib
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import strictwire
from strictwire.check.breaking import RULES as BREAKING
from strictwire.check.lint import RULES as LINT
from strictwire.check.reported import REPORTED
from strictwire.cli.main import VERBS, main


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_examples(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([verb, "--help"])

    shown = capsys.readouterr().out
    assert ended.value.code == 0
    assert "examples:" in shown
    assert f"strictwire {verb}" in shown


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_a_module_of_its_own(verb: str) -> None:
    module = importlib.import_module(f"strictwire.cli.{verb}")

    assert callable(module.configure)
    assert callable(module.run)


def test_the_help_lists_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0

    shown = capsys.readouterr().out
    assert [verb for verb in VERBS if f"  {verb} " not in shown] == []


def test_without_a_verb_the_help_is_shown_and_the_exit_code_is_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage:" in capsys.readouterr().out


def test_an_unknown_verb_is_refused_with_the_closest_match(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prob"]) == 2
    assert "did you mean 'probe'" in capsys.readouterr().err


def test_the_version_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"strictwire {strictwire.__version__}\n"


def test_wrong_options_exit_with_2() -> None:
    with pytest.raises(SystemExit) as ended:
        main(["explain"])

    assert ended.value.code == 2


def test_help_does_not_import_the_server_the_client_or_the_schema_engine() -> None:
    """Every run in CI and every git hook pays for start-up."""
    code = "import sys; from strictwire.cli.main import main; main(['--help']); print(sorted(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "jsonschema_rs" not in done.stderr
    assert "asyncio" not in done.stderr
    assert "aiohttp" not in done.stderr


@pytest.mark.parametrize(
    ("code", "exit_code", "words"),
    [
        ("PLAN_NOT_APPROVED", 0, "Have the plan approved"),
        ("cache_missing", 0, "resolve/v0"),
        ("PLAN_NOT_APROVED", 2, "did you mean PLAN_NOT_APPROVED"),
    ],
)
def test_explain_explains_a_code_or_suggests_the_closest_one(
    code: str, exit_code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", code]) == exit_code

    shown = capsys.readouterr()
    assert words in shown.out + shown.err


def test_explain_accepts_a_negative_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--", "-32601"]) == 0
    assert "METHOD_NOT_FOUND" in capsys.readouterr().out


def test_probe_without_a_server_exits_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe"]) == 2
    assert "--stdio" in capsys.readouterr().err


def test_probe_of_an_unreachable_server_exits_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["probe", "--stdio", "/nowhere/at/all"]) == 1
    assert "strictwire probe" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["serve", "nowhere:server"], "there is no module"),
        (["serve", "json:loads"], "not a strictwire.Server"),
        (["serve", "--http", "nonsense"], "HOST:PORT"),
    ],
)
def test_serve_refuses_an_invalid_server_or_address(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("rule", [rule.id for rule in (*LINT, *BREAKING, *REPORTED)])
def test_every_rule_is_explained(rule: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["explain", rule])
    lines = capsys.readouterr().out.splitlines()

    assert (code, lines[0], [line[:7] for line in lines[-3:]]) == (0, rule, ["- bad: ", "- good:", "- advic"])


STRICTWIRE = [sys.executable, "-m", "strictwire.cli.main"]


def test_an_interrupted_command_says_so_and_leaves_no_server(tmp_path: Path) -> None:
    started = tmp_path / "started"
    server = f"import pathlib, time; pathlib.Path({str(started)!r}).touch(); time.sleep(3600)"
    # A shell starts background jobs with SIGINT ignored, which processes inherit.
    command = subprocess.Popen(
        [*STRICTWIRE, "lint", "--stdio", shlex.join([sys.executable, "-c", server])],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    while not started.exists():
        assert command.poll() is None
        time.sleep(0.01)
    command.send_signal(signal.SIGINT)
    _, said = command.communicate(timeout=60)

    assert (command.returncode, said) == (130, "strictwire: interrupted\n")


def test_a_reader_that_closes_the_output_causes_no_traceback() -> None:
    command = subprocess.Popen([*STRICTWIRE, "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    listed = subprocess.Popen([*STRICTWIRE, "lint", "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for each in (command, listed):
        assert each.stdout is not None
        each.stdout.close()

    assert [each.communicate(timeout=60)[1] for each in (command, listed)] == [b"", b""]
