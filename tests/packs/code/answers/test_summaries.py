"""Summaries: the exact sentences of A.3."""

from __future__ import annotations

import pytest

from strictwire.packs.code.answers import summaries


@pytest.mark.clause("G14")
@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        (summaries.found(0, "definition", capped=False), "Found 0 definitions."),
        (summaries.found(1, "definition", capped=False), "Found 1 definition."),
        (summaries.found(200, "definition", capped=True), "Found 200 definitions. (Capped.)"),
        (summaries.page(1, "reference", more=True), "Returned 1 reference."),
        (summaries.page(2, "reference", more=False), "Returned 2 references."),
        (summaries.page(2, "reference", more=True), "Returned 2 references (next page available)."),
        (summaries.page(0, "workspace symbol", more=False), "Returned 0 workspace symbols."),
        (summaries.page(2, "match", more=False, plural="matches"), "Returned 2 matches."),
        (summaries.document_symbols(1, capped=False), "Returned 1 document symbol."),
        (summaries.document_symbols(3, capped=False), "Returned 3 document symbols."),
        (summaries.document_symbols(200, capped=True), "Returned 200 document symbols (Capped.)"),
        (summaries.diagnostics(1, capped=False), "Returned 1 diagnostic."),
        (summaries.diagnostics(200, capped=True), "Returned 200 diagnostics. (Capped.)"),
        (summaries.files(1, more=False, capped=False), "Returned diagnostics for 1 file."),
        (summaries.files(2, more=True, capped=False), "Returned diagnostics for 2 files (next page available)."),
        (summaries.files(2, more=True, capped=True), "Returned diagnostics for 2 files (next page available; Capped)."),
        (summaries.files(2, more=False, capped=True), "Returned diagnostics for 2 files (Capped)."),
        (summaries.hover(available=True, truncated=False), "Hover available."),
        (summaries.hover(available=False, truncated=False), "No hover available."),
        (summaries.hover(available=True, truncated=True), "Hover available. (Truncated.)"),
        (summaries.hover(available=False, truncated=True), "Hover truncated."),
        (summaries.one_line("  a \n\t b "), "a b"),
        (summaries.one_line("x" * 300), "x" * 200),
        (summaries.one_line(" "), "OK"),
        (summaries.one_line(None), "OK"),
    ],
)
def test_a_summary_says_exactly(summary: str, expected: str) -> None:
    assert summary == expected
