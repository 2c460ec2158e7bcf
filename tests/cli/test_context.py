"""`strictwire context`: options, output streams and exit codes (Context Resolve v0, 1.15)."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from tests.fixtures.live import command, run
from tests.packs.context.caches import make_cache, snapshot, write_sources

from strictwire.canon.json import parse_object
from strictwire.cli.context import ProgressLine
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


CONFLICTS = {"a.md": "x", "b.md": "x", "c.md": b"\x89\0", "d.txt": "text"}


def test_a_build_skips_and_reports_and_a_strict_build_refuses(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    sources = write_sources(tmp_path / "sources", {**CONFLICTS, "e.ipynb": "{"})
    asked = ("build", "--sources", str(sources), "--cache")
    strict = call(*asked, str(tmp_path / "strict"), "--strict", capfd=capfd)
    code, out, err = call(*asked, str(tmp_path / "cache"), "--report", str(tmp_path / "report.json"), capfd=capfd)
    whole = call(*asked, str(tmp_path / "whole"), "--exclude", "*.ipynb", capfd=capfd)

    assert (strict[0], (tmp_path / "strict").exists()) == (7, False)
    assert (code, out, err.splitlines()[0][:18]) == (100, "", "built 2 documents,")
    assert err.splitlines()[1:] == [
        "skipped 1 (same content as another file, which is kept): b.md (kept: a.md)",
        "skipped 1 (not text): c.md",
        "skipped 1 (not a valid file of its kind): e.ipynb",
    ]
    assert parse_object((tmp_path / "report.json").read_bytes())["counts"] == {"duplicate": 1, "binary": 1, "damaged": 1}
    assert (whole[0], whole[2].splitlines()[-1]) == (0, "ignored 1 files and folders (.gitignore, --exclude, --include)")


def test_the_examples_of_the_help_are_accepted(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    sources = write_sources(tmp_path / "sources", {"a.md": "x", "b.py": "y"})
    kinds = ("--kind", "markdown", "--kind", "code")

    assert call("build", "--sources", str(sources), "--cache", str(tmp_path / "cache"), *kinds, capfd=capfd)[0] == 0
    assert call("build", "--sources", "x", "--cache", "y", "--max-bytes", "0", capfd=capfd)[0] == 1
    assert call("build", "--sources", "x", "--cache", "y", "--watch", "--report", "z", capfd=capfd)[0] == 1


def test_progress_shows_the_rate_and_the_time_that_is_left() -> None:
    times = iter([10.0, 12.0, 14.0])
    stream = io.StringIO()
    line = ProgressLine(stream, lambda: next(times))
    for done in (0, 256, 600):
        line(done, 600)

    assert stream.getvalue().split("\r\x1b[K")[1:] == [
        "0/600 documents",
        "256/600 documents, 128/s, 3 s left",
        "600/600 documents, 150/s\n",
    ]


def test_add_and_search_work_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    sources = write_sources(tmp_path / "sources", {"a.md": "# Guide\n\nReset the password.", "b.md": "Other page."})
    root = str(tmp_path / "root")
    added = call("add", "docs", str(sources), "--root", root, "--title", "Docs", capfd=capfd)
    found = call("search", "reset password", "--root", root, capfd=capfd)
    asjson = call("search", "reset password", "--root", root, "--cache", "docs", "--format", "json", capfd=capfd)
    absent = call("search", "x", "--root", root, "--cache", "absent", capfd=capfd)

    assert (added[0], added[1], added[2].splitlines()[0]) == (0, "", f"added docs from {sources}")
    assert (found[0], found[1].splitlines()[2:], found[2]) == (
        0,
        ["docs a.md lines 1-3 (Guide)", "# Guide", "", "Reset the password."],
        "",
    )
    assert [each["id"] for each in parse_object(asjson[1].encode())["passages"]] == ["a.md"]
    assert (absent[0], absent[1]) == (4, "")
    assert call("search", "x", "--root", root, "--budget", "255", capfd=capfd)[0] == 1
    assert call("add", "a/b", str(sources), "--root", root, capfd=capfd)[0] == 6


@pytest.mark.parametrize(
    "options", [("--http", "127.0.0.1:0"), ("--profile", "editor/0.1"), ("--workers", "2"), ("module:server",)]
)
def test_the_frozen_surface_refuses_options_that_it_does_not_have(
    options: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--pack", "context", "--exact-v0", *options]) == 2
    assert "--exact-v0 serves Context Resolve v0 over stdio only; remove" in capfd.readouterr().err


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


def test_a_search_shows_no_escape_sequence_of_a_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    sources = write_sources(tmp_path / "sources", {"a.md": "needle\t\x1b]0;title\x07 \u202e end"})
    root = str(tmp_path / "root")
    call("add", "docs", str(sources), "--root", root, capfd=capfd)
    text = call("search", "needle", "--root", root, capfd=capfd)[1]
    asjson = call("search", "needle", "--root", root, "--format", "json", capfd=capfd)[1]

    assert text.splitlines()[-1] == "needle  \\u001b]0;title\\u0007 \\u202e end"
    assert parse_object(asjson.encode())["passages"][0]["text"] == "needle\t\x1b]0;title\x07 \u202e end"


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (("--exclude", "[z-a]"), "'[z-a]' is not a pattern in the syntax of .gitignore"),
        (("--include", "!"), "'!' is not a pattern in the syntax of .gitignore"),
        (("--max-bytes", "0"), "a size is a number of bytes from 1 to 67108864"),
        (("--max-bytes", "9" * 30), "a size is a number of bytes from 1 to 67108864"),
    ],
)
def test_a_wrong_option_of_a_build_says_what_is_right(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], option: tuple[str, str], message: str
) -> None:
    code, _, error = call("build", "--sources", str(tmp_path), "--cache", str(tmp_path / "c"), *option, capfd=capfd)

    assert (code, message in error) == (1, True)


@pytest.mark.parametrize("budget", ["0", "255", "1000001", "1e3", "-1", "9" * 5000])
def test_a_budget_of_a_search_is_within_the_limits_of_the_tool(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], budget: str
) -> None:
    code, _, error = call("search", "x", "--root", str(tmp_path), f"--budget={budget}", capfd=capfd)

    assert (code, "a budget is a number from 256 to 1000000" in error) == (1, True)


def test_a_search_without_a_cache_says_what_there_is(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "root"
    command = f"make one with: strictwire context add NAME SOURCE --root {root}"
    absent = call("search", "x", "--root", str(root), capfd=capfd)
    write_sources(tmp_path / "sources", {"a.md": "text"})
    for name in ("django", "flask"):
        call("add", name, str(tmp_path / "sources"), "--root", str(root), capfd=capfd)

    assert absent == (4, "", f"error: there are no caches in {root}; {command}\n")
    assert call("search", "x", "--root", str(root), "--cache", "dajngo", capfd=capfd) == (
        4,
        "",
        f"error: there is no cache dajngo in {root}; did you mean django?\n",
    )
    assert call("search", "x", "--root", str(root), "--cache", "zzz", capfd=capfd) == (
        4,
        "",
        f"error: there is no cache zzz in {root}; there are django, flask\n",
    )
    assert call("list", "--root", str(tmp_path / "none"), capfd=capfd) == (
        4,
        "",
        f"error: there is no folder {tmp_path / 'none'}\n",
    )


def test_an_empty_query_of_a_search_is_invalid(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert call("search", " ", "--root", str(tmp_path), capfd=capfd) == (
        2,
        "",
        "error: the query is empty; give a question, words or identifiers\n",
    )


def test_a_source_that_cannot_be_added_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "one.pdf").write_bytes(b"%PDF")
    absent = call("add", "x", str(tmp_path / "absent"), "--root", str(tmp_path / "root"), capfd=capfd)
    file = call("add", "x", str(tmp_path / "one.pdf"), "--root", str(tmp_path / "root"), capfd=capfd)

    assert absent == (6, "", f"error: there is no such folder or archive: {tmp_path / 'absent'}\n")
    assert (file[0], file[2].startswith("error: a source is a folder, an archive (.whl, ")) == (6, True)
