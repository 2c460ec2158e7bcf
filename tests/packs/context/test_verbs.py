"""The commands of the command line: output and exit codes (rules 1.15; 1.12.3 to 1.12.6 and 1.12.15)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.packs.context.caches import MOMENT, edit_json, make_cache, only_document_file, write_sources

from strictwire.canon.json import indent, parse_object
from strictwire.packs.context.build import Order
from strictwire.packs.context.layout import version_of
from strictwire.packs.context.verbs import (
    EXIT_CODES,
    CommandResult,
    run_build,
    run_inspect,
    run_list,
    run_resolve,
    run_verify,
)

ALPHA = version_of(b"alpha beta")
EMPTY_CACHE = version_of(b'{"version":"1","hash_algorithm":"sha256"}')
RESOLVED = (
    f'{{"documents":[{{"id":"a.md","version":"{ALPHA}","content":"alpha beta","score":0.5,"tokens":3,'
    '"why":{"query_terms":["alpha"],"term_matches":1,"total_words":2}}],'
    '"selection":{"query":"Alpha","budget":7,"tokens_used":3,"documents_considered":1,"documents_selected":1,'
    '"documents_excluded_by_budget":0}}'
).encode()


@pytest.mark.v0("1.3.6")
def test_build_writes_one_line_to_stderr_and_nothing_to_stdout(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources", {"a.md": "alpha"})
    answer = run_build(Order(sources=sources, output=tmp_path / "cache"), now=lambda: MOMENT)
    version = parse_object((tmp_path / "cache" / "manifest.json").read_bytes())["cache_version"]

    assert answer == CommandResult(stderr=f"built 1 documents, {version}\n".encode())


@pytest.mark.v0("1.2.6", "1.3.2", "1.3.3", "1.15.3")
@pytest.mark.parametrize(
    ("contents", "exit_code"),
    [({"a.md": b"\xff"}, 7), ({"a.md": "x", "b.md": "x"}, 7), ({"a.md": "x", "A.md": "y"}, 5)],
)
def test_a_failed_build_has_the_exit_code_of_the_table(
    tmp_path: Path, contents: dict[str, str | bytes], exit_code: int
) -> None:
    sources = write_sources(tmp_path / "sources", contents)
    answer = run_build(Order(sources=sources, output=tmp_path / "cache"), now=lambda: MOMENT)

    assert (answer.exit_code, answer.stdout, answer.stderr[:6]) == (exit_code, b"", b"error:")


@pytest.mark.v0("1.3.1", "1.15.4")
def test_an_existing_output_or_sources_that_are_not_a_directory_exit_6(tmp_path: Path) -> None:
    cache = make_cache(tmp_path, {"a.md": "x"})
    again = run_build(Order(sources=tmp_path, output=cache), now=lambda: MOMENT)
    absent = run_build(Order(sources=tmp_path / "absent", output=tmp_path / "new"), now=lambda: MOMENT)

    assert (again.exit_code, absent.exit_code) == (6, 6)


@pytest.mark.v0("1.8.1", "1.9.1")
def test_resolve_writes_the_selection_and_one_newline(tmp_path: Path) -> None:
    cache = make_cache(tmp_path, {"a.md": "alpha beta"})

    assert run_resolve(cache, query="Alpha", budget="7") == CommandResult(stdout=RESOLVED + b"\n")
    assert run_resolve(cache, query="Alpha", budget="+007", pretty=True) == CommandResult(stdout=indent(RESOLVED) + b"\n")


@pytest.mark.v0("1.12.6", "1.15.2", "1.7.5", "1.10.1")
@pytest.mark.parametrize("budget", ["-1", "1.0", "", " 1", "1 ", "1e3", "x", "٣", "18446744073709551616", "9" * 5000])
def test_an_invalid_budget_exits_3_before_the_cache_is_read(budget: str) -> None:
    answer = run_resolve(Path("/nonexistent"), query="", budget=budget)

    assert (answer.exit_code, answer.stdout, answer.stderr) == (3, b"", b"error: Budget is invalid\n")


@pytest.mark.v0("1.15.2")
def test_the_largest_budget_is_accepted(tmp_path: Path) -> None:
    assert run_resolve(make_cache(tmp_path, {}), query="", budget="18446744073709551615").exit_code == 0


@pytest.mark.v0("1.12.17")
@pytest.mark.parametrize("query", ["\udcff", "x" * 65_537])
def test_a_query_that_is_not_unicode_or_too_long_exits_2(query: str) -> None:
    assert run_resolve(Path("/nonexistent"), query=query, budget="1").exit_code == 2


@pytest.mark.v0("1.12.3", "1.12.4", "1.13.1")
def test_an_absent_cache_a_file_and_a_missing_manifest_exit_4_4_5(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()

    assert [run_resolve(tmp_path / name, query="", budget="1").exit_code for name in ("absent", "file", "empty")] == [
        4,
        4,
        5,
    ]
    assert [run_inspect(tmp_path / name).exit_code for name in ("absent", "file", "empty")] == [4, 4, 4]
    assert [run_verify(tmp_path / name).exit_code for name in ("absent", "file", "empty")] == [4, 4, 5]


@pytest.mark.v0("1.12.1", "1.15.3")
def test_a_broken_document_exits_5_and_prints_nothing_on_stdout(tmp_path: Path) -> None:
    cache = make_cache(tmp_path, {"a.md": "alpha"})
    edit_json(only_document_file(cache), content="x")
    answer = run_resolve(cache, query="x", budget="9")

    assert (answer.exit_code, answer.stdout) == (5, b"")
    assert answer.stderr == b"error: Cache exists but is invalid (CONTENT_HASH_MATCHES: a.md)\n"


@pytest.mark.v0("1.13.1")
def test_inspect_is_pretty_and_a_malformed_manifest_exits_5(tmp_path: Path) -> None:
    cache = make_cache(tmp_path, {})

    assert run_inspect(cache).stdout.decode() == (
        f'{{\n  "cache_version": "{EMPTY_CACHE}",\n  "document_count": 0,\n  "total_bytes": 0,\n  "valid": true\n}}\n'
    )

    (cache / "manifest.json").write_text("{}")

    assert run_inspect(cache).exit_code == 5


def test_verify_reports_valid_or_every_violation(tmp_path: Path) -> None:
    cache = make_cache(tmp_path, {"a.md": "alpha"})

    assert run_verify(cache) == CommandResult(stdout=b'{\n  "valid": true,\n  "violations": []\n}\n')

    shutil.rmtree(cache / "documents")

    assert (run_verify(cache).exit_code, parse_object(run_verify(cache).stdout)) == (
        5,
        {"valid": False, "violations": [{"rule": "DOCUMENT_EXISTS", "code": "cache_invalid", "subject": "a.md"}]},
    )


def test_list_writes_the_answer_of_the_tool(tmp_path: Path) -> None:
    make_cache(tmp_path / "root", {"a.md": "alpha"})
    shutil.rmtree(tmp_path / "root" / ".cache-sources")

    assert run_list(tmp_path / "root") == CommandResult(stdout=b'{"caches":[{"path":"cache","has_manifest":true}]}\n')
    assert run_list(tmp_path / "absent").exit_code == 4


@pytest.mark.v0("1.15.3")
def test_every_v0_code_has_an_exit_code() -> None:
    assert dict(EXIT_CODES) == {
        "INVALID_QUERY": 2, "INVALID_BUDGET": 3, "CACHE_MISSING": 4, "CACHE_INVALID": 5, "IO_ERROR": 6, "INTERNAL": 7,
    }  # fmt: skip
