"""Lenient builds: what cannot be in the cache is skipped, and the cache stays valid by every rule of v0."""

from __future__ import annotations

from pathlib import Path

import pypdf
import pytest
from tests.packs.context.caches import MOMENT, write_sources

from strictwire.packs.context.build import Order, build
from strictwire.packs.context.extract import KINDS
from strictwire.packs.context.inspection import find_violations
from strictwire.packs.context.layout import Document, parse_document
from strictwire.packs.context.skips import Skip
from strictwire.packs.context.survey import SourceRules

ANY = SourceRules(strict=False, gitignore=True, max_bytes=1000)


def documents(cache: Path) -> dict[str, Document]:
    made = [parse_document(path.read_bytes()) for path in (cache / "documents").iterdir()]
    return {each.id: each for each in made}


@pytest.mark.parametrize("workers", [1, 2])
def test_every_kind_of_bad_file_is_skipped_and_the_rest_is_built(tmp_path: Path, workers: int) -> None:
    sources = write_sources(
        tmp_path / "sources",
        {
            "A.md": "kept",
            "a.md": "lost",
            "b.md": "same",
            "c.md": "same",
            "big.md": "x" * 1001,
            "broken.ipynb": "{",
            "latin.txt": "Die Größe der Datei überschreitet die zulässige Länge.".encode("cp1252"),
            "picture.txt": b"\x89PNG\0",
            **{f"many/{number}.md": f"text {number}" for number in range(600)},
        },
    )
    order = Order(sources=sources, output=tmp_path / "cache", kinds=frozenset(KINDS), rules=ANY, workers=workers)
    built = build(order, now=lambda: MOMENT)
    made = documents(tmp_path / "cache")

    assert built.report.skipped == (
        Skip("a.md", "same-id", "A.md"),
        Skip("big.md", "oversized", "a file is larger than 1000 bytes"),
        Skip("broken.ipynb", "damaged", "a file is not a notebook"),
        Skip("c.md", "duplicate", "b.md"),
        Skip("picture.txt", "binary", "a file is not text"),
    )
    assert not built.report.is_complete
    assert sorted(made)[:3] == ["a.md", "b.md", "latin.txt"]
    assert (made["a.md"].content, made["a.md"].metadata) == ("kept", {})
    assert made["latin.txt"].content == "Die Größe der Datei überschreitet die zulässige Länge."
    assert dict(made["latin.txt"].metadata) == {"encoding": "cp1252", "kind": "text"}
    assert find_violations(tmp_path / "cache") == []


def test_a_pdf_without_text_is_skipped_and_reported(tmp_path: Path) -> None:
    writer = pypdf.PdfWriter()
    writer.add_blank_page(72, 72)
    (tmp_path / "sources").mkdir()
    writer.write(tmp_path / "sources" / "scan.pdf")
    order = Order(sources=tmp_path / "sources", output=tmp_path / "cache", kinds=frozenset(KINDS), rules=ANY)

    assert build(order, now=lambda: MOMENT).report.skipped == (Skip("scan.pdf", "no-text", "a file has no text"),)


def test_a_tree_that_v0_accepts_has_the_same_bytes_with_either_rules(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources", {"a.md": "alpha", "Sub/B.md": "beta", ".hidden/c.md": "gamma"})
    for name, order in (
        ("strict", Order(sources=sources, output=tmp_path / "strict")),
        ("lenient", Order(sources=sources, output=tmp_path / "lenient", kinds=frozenset(KINDS), rules=ANY)),
    ):
        build(order, now=lambda: MOMENT)

        assert (tmp_path / name / "manifest.json").is_file()
    assert (tmp_path / "strict" / "manifest.json").read_bytes() == (tmp_path / "lenient" / "manifest.json").read_bytes()
    assert documents(tmp_path / "strict") == documents(tmp_path / "lenient")
