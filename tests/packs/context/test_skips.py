"""The report of a build: counts, JSON and the summary for people."""

from __future__ import annotations

import pickle

import pytest

from strictwire.packs.context.skips import HARMLESS, REASONS, FileRefused, Report, Skip

REPORT = Report(
    skipped=(
        Skip("a.md", "duplicate", "b.md"), Skip("c.md", "duplicate", "b.md"), Skip("d.md", "duplicate", "b.md"),
        Skip("e.md", "duplicate", "b.md"), Skip("x.txt", "binary"),
    ),
    converted={"cp1252": 2, "utf-16": 1},
    ignored=7,
    other={"png": 3, "": 1},
)  # fmt: skip


def test_the_summary_has_one_line_per_reason_with_its_first_files() -> None:
    assert REPORT.render() == (
        "skipped 4 (same content as another file, which is kept): a.md (kept: b.md), c.md (kept: b.md), d.md (kept: b.md), "
        "...\n"
        "skipped 1 (not text): x.txt\n"
        "converted 3 files (2 cp1252, 1 utf-16) to UTF-8\n"
        "ignored 7 files and folders (.gitignore, --exclude, --include)\n"
        "not documents: 4 files (3 png, 1 without extension)\n"
    )
    assert Report().render() == ""


def test_the_summary_escapes_the_names_of_files() -> None:
    hostile = "a\x1b]0;owned\x07\n\udcff.md"
    report = Report(skipped=(Skip(hostile, "duplicate", hostile), Skip(hostile, "binary")), other={"\x1b[2J": 1})

    assert [line for line in report.render().splitlines() if not line.isprintable()] == []
    assert report.render().count(r"a\u001b]0;owned\u0007\u000a\udcff.md") == 3
    assert r"1 \u001b[2J" in report.render()


def test_the_json_names_every_file() -> None:
    assert REPORT.as_json() == {
        "complete": True,
        "counts": {"duplicate": 4, "binary": 1},
        "skipped": [{"file": each.relative, "reason": each.reason, "detail": each.detail} for each in REPORT.skipped],
        "converted": {"cp1252": 2, "utf-16": 1},
        "ignored": 7,
        "other": {"": 1, "png": 3},
    }


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_a_report_is_complete_unless_a_document_is_lost(reason: str) -> None:
    assert Report(skipped=(Skip("a.md", reason),)).is_complete is (reason in HARMLESS)


def test_a_refused_file_survives_the_way_from_a_worker_process() -> None:
    refused = pickle.loads(pickle.dumps(FileRefused("INTERNAL", "a file is not UTF-8", "a.md", "encoding")))

    assert (refused.failure.code, refused.reason, refused.skip) == (
        "INTERNAL",
        "a file is not UTF-8",
        Skip("a.md", "encoding", "a file is not UTF-8"),
    )
