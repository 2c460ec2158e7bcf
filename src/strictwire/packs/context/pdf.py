"""Converts a PDF to Markdown: the text of its pages below the headings of its outline. Needs the `pdf` extra.

Damaged files make pypdf raise almost anything, or work for minutes. `conversion` runs it in a process with limits.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from strictwire.packs.context.formats import WrongFormat

if TYPE_CHECKING:
    from pypdf import PdfReader

_DEEPEST: Final = 6
_MAX_OUTLINE: Final = 100_000
"""Entries of an outline that are read; a damaged one can refer to itself."""


def pdf_to_markdown(raw: bytes) -> str:
    """Return the text of a PDF; empty if it has only images. Raises WrongFormat."""
    from pypdf import PdfReader
    from pypdf.errors import FileNotDecryptedError, PyPdfError

    try:
        reader = PdfReader(io.BytesIO(raw))
        pages = [page.extract_text() for page in reader.pages]
        titles = _titles(reader)
    except FileNotDecryptedError as exc:
        raise WrongFormat("encrypted", reason="encrypted") from exc
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as exc:
        # pypdf raises all of these for damaged files. Whatever the reason, the file cannot be read.
        raise WrongFormat("not a readable PDF") from exc
    return "".join(_page(number, text, titles.get(number, [])) for number, text in enumerate(pages) if text.strip())


def _page(number: int, text: str, titles: Sequence[tuple[int, str]]) -> str:
    """Return a page below its entries in the outline; a page without one is named by its number."""
    headings = [f"{'#' * min(level, _DEEPEST)} {title}" for level, title in titles] or [f"## Page {number + 1}"]
    return "\n\n".join([*headings, text]) + "\n\n"


def _titles(reader: PdfReader) -> dict[int, list[tuple[int, str]]]:
    """Return the levels and titles of the outline by page number. A damaged outline has none."""
    titles: dict[int, list[tuple[int, str]]] = {}
    pending: list[tuple[int, Any]] = [(1, entry) for entry in reversed(reader.outline)]
    for _ in range(_MAX_OUTLINE):
        if not pending:
            break
        level, entry = pending.pop()
        if isinstance(entry, list):
            pending += [(level + 1, each) for each in reversed(entry)]
            continue
        page = reader.get_destination_page_number(entry)
        title = " ".join(str(entry.title or "").split())
        if page is not None and title:
            titles.setdefault(page, []).append((level, title))
    return titles
