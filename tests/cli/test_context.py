"""`strictwire context`: options, output streams and exit codes (Context Resolve v0, 1.15)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.fixtures.live import command, run
from tests.packs.context.caches import make_cache, snapshot, write_sources

from strictwire.canon.json import parse_object
from strictwire.cli.main import main


def call(*arguments: str, capfd: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """The exit code and both streams."""
    try:
        code = main(["context", *arguments])
    except SystemExit as ended:
        code = int(ended.code or 0)
    streams = capfd.readouterr()
    return code, streams.out, streams.err


@pytest.mark.v0("1.3.6", "1.12.15", "1.15.2", "1.10.17")
def test_every_subcommand_works_on_a_cache_that_build_made(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    sources = write_sources(tmp_path / "sources", {"A.md": "alpha beta"})
    cache = tmp_path / "root" / "cache"
    built = call("build", "--sources", str(sources), "--cache", str(cache), capfd=capfd)
    version = parse_object((cache / "manifest.json").read_bytes())["cache_version"]
    before = snapshot(tmp_path)
    compact = call("resolve", f"--cache={cache}", "--query=Alpha", "--budget=007", capfd=capfd)
    pretty = call("resolve", "--cache", str(cache), "--query", "Alpha", "--budget", "7", "--format", "pretty", capfd=capfd)
    asjson = call("resolve", "--cache", str(cache), "--query", "Alpha", "--budget", "+7", "--format=json", capfd=capfd)

    assert built == (0, "", f"built 1 documents, {version}\n")
    assert compact == asjson
    assert (compact[0], compact[1].count("\n"), compact[1][-1], compact[2]) == (0, 1, "\n", "")
    assert (pretty[0], pretty[1][:18], parse_object(pretty[1].encode())) == (
        0,
        '{\n  "documents": [',
        parse_object(compact[1].encode()),
    )
    assert call("inspect", "--cache", str(cache), capfd=capfd)[0] == 0
    assert call("verify", "--cache", str(cache), capfd=capfd)[:2] == (0, '{\n  "valid": true,\n  "violations": []\n}\n')
    assert call("list", "--root", str(tmp_path / "root"), capfd=capfd)[1] == (
        '{"caches":[{"path":"cache","has_manifest":true}]}\n'
    )
    assert snapshot(tmp_path) == before


@pytest.mark.v0("1.12.5", "1.15.1", "1.15.3")
@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("unknown",),
        ("resolve",),
        ("resolve", "--cache", "x", "--query", "q"),
        ("resolve", "--cache", "x", "--query", "q", "--budget"),
        ("resolve", "--cache", "x", "--query", "-q", "--budget", "1"),
        ("resolve", "--cache", "x", "--que", "q", "--budget", "1"),
        ("resolve", "--cache", "x", "--query", "q", "--query", "q", "--budget", "1"),
        ("resolve", "--cache", "x", "--query", "q", "--budget", "1", "--format", "xml"),
        ("resolve", "--cache", "x", "--query", "q", "--budget", "1", "more"),
        ("inspect", "-c", "x"),
        ("build", "--sources", "x"),
        ("build", "--cache", "x"),
        ("list",),
    ],
)
def test_wrong_usage_exits_1_with_an_error_and_nothing_on_stdout(
    arguments: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    code, out, err = call(*arguments, capfd=capfd)

    assert (code, out, err[:7]) == (1, "", "error: ")


@pytest.mark.v0("1.12.6", "1.15.1", "1.15.2")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--query=-q", "--budget=1"), 0),
        (("--query=", "--budget=1"), 0),
        (("--query=q", "--budget=-1"), 3),
        (("--query=q", "--budget", "-1"), 3),
        (("--query=q", "--budget=1.5"), 3),
        (("--query=q", "--budget= 1"), 3),
        (("--query=q", "--budget=18446744073709551615"), 0),
        (("--query=q", "--budget=18446744073709551616"), 3),
    ],
)
def test_values_are_checked_by_the_subcommand_and_not_by_the_parser(
    tmp_path: Path, arguments: tuple[str, ...], expected: int, capfd: pytest.CaptureFixture[str]
) -> None:
    cache = make_cache(tmp_path, {"a.md": "alpha"})
    code, out, err = call("resolve", f"--cache={cache}", *arguments, capfd=capfd)

    assert (code, bool(out), err[:6]) == (expected, expected == 0, "error:" if expected else "")


@pytest.mark.v0("1.12.17")
def test_a_query_that_is_not_utf_8_exits_2(tmp_path: Path) -> None:
    cache = make_cache(tmp_path, {"a.md": "alpha"})
    ended = run(
        [command("")[0], "context", "resolve", "--cache", str(cache), "--query", os.fsdecode(b"\xff"), "--budget", "1"]
    )

    assert (ended.returncode, ended.stdout, ended.stderr) == (2, b"", b"error: Query is invalid\n")


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_exit_0(option: str, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(option, capfd=capfd)

    assert (code, bool(out), err) == (0, True, "")


@pytest.mark.v0("1.15.5")
def test_environment_variables_do_not_change_the_result(tmp_path: Path) -> None:
    cache = make_cache(tmp_path, {"a.md": "alpha"})
    asked = [command("")[0], "context", "resolve", f"--cache={cache}", "--query=alpha", "--budget=9"]
    variables = {"CONTEXT_CACHE_ROOT": "/nonexistent", "CONTEXT_TOOL_TIMEOUT_SECS": "x"}

    assert run(asked, env=variables).stdout == run(asked).stdout != b""
