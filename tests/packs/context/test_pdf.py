"""PDF files that cannot be read; conversion to text is tested in test_extract.py."""

from __future__ import annotations

import io

import pypdf
import pytest

from strictwire.packs.context.formats import WrongFormat
from strictwire.packs.context.pdf import pdf_to_markdown


@pytest.mark.parametrize(("encrypted", "reason"), [(True, "encrypted"), (False, "damaged")])
def test_an_encrypted_file_is_told_from_a_damaged_one(encrypted: bool, reason: str) -> None:
    writer = pypdf.PdfWriter()
    writer.add_blank_page(72, 72)
    if encrypted:
        writer.encrypt("secret", algorithm="RC4-128")
    buffer = io.BytesIO()
    writer.write(buffer)
    raw = buffer.getvalue() if encrypted else buffer.getvalue()[:100]
    with pytest.raises(WrongFormat) as caught:
        pdf_to_markdown(raw)

    assert caught.value.reason == reason
