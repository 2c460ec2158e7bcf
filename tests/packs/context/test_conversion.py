"""Hostile pages, notebooks and PDF cost a bounded amount of time and memory, and only themselves."""

from __future__ import annotations

import pytest

from strictwire.packs.context.conversion import ALLOWANCES, Converter, convert
from strictwire.packs.context.extract import VERBATIM, extract
from strictwire.packs.context.formats import WrongFormat

PAGE = b"<h1>Title</h1><p>Some text."
ELEMENTS = b"<b>x" * 4_000_000
"""About ten seconds of CPU time."""
ATTRIBUTES = b"<a " + b"x=1 " * 4_000_000 + b">"
"""Two gigabytes of attributes."""
UNKNOWN_CIPHER = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj "
    b"3 0 obj<</Filter/Other/V 9>>endobj trailer<</Size 4/Root 1 0 R/Encrypt 3 0 R/ID[(a)(a)]>>\nstartxref\n0\n%%EOF"
)
"""pypdf raises NotImplementedError."""


def reason_of(converter: Converter, kind: str, raw: bytes) -> str:
    with pytest.raises(WrongFormat) as caught:
        converter.extract(kind, raw)
    return caught.value.reason


def test_the_text_is_that_of_a_conversion_in_this_process() -> None:
    with Converter() as converter:
        texts = [converter.extract("html", PAGE), converter.extract("markdown", b"# a"), converter.extract("html", PAGE)]

    assert texts == [extract("html", PAGE), "# a", extract("html", PAGE)]


def test_every_kind_that_is_not_verbatim_has_an_allowance() -> None:
    assert set(ALLOWANCES) == {"html", "notebook", "pdf"}
    assert VERBATIM.isdisjoint(ALLOWANCES)


def test_a_file_above_its_cpu_time_is_refused_and_the_next_one_is_converted() -> None:
    with Converter(max_seconds=1) as converter:
        assert reason_of(converter, "html", ELEMENTS) == "costly"
        assert converter.extract("html", PAGE) == extract("html", PAGE)


def test_a_file_above_the_memory_limit_is_refused_and_the_next_one_is_converted() -> None:
    with Converter(max_memory=400 << 20) as converter:
        assert reason_of(converter, "html", ATTRIBUTES) == "costly"
        assert converter.extract("html", PAGE) == extract("html", PAGE)


@pytest.mark.parametrize(("kind", "raw"), [("html", b"&#" + b"9" * 5000 + b";"), ("pdf", UNKNOWN_CIPHER)])
def test_a_file_that_makes_its_parser_fail_is_damaged(kind: str, raw: bytes) -> None:
    with Converter() as converter:
        assert reason_of(converter, kind, raw) == "damaged"
        assert converter.extract("html", PAGE) == extract("html", PAGE)


def test_a_text_above_the_size_of_a_document_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strictwire.packs.context.conversion.MAX_DOCUMENT_BYTES", 10)

    assert convert("html", PAGE) == ("oversized", b"larger than 10 bytes as text")
