"""Converting the kinds other than Markdown to text."""

from __future__ import annotations

import io

import pypdf
import pytest

from strictwire.packs.context.extract import KIND_OF, KINDS, VERBATIM, can_extract, extract
from strictwire.packs.context.formats import WrongFormat


def test_no_extension_belongs_to_two_kinds() -> None:
    assert len(KIND_OF) == sum(map(len, KINDS.values()))


@pytest.mark.parametrize("kind", sorted(VERBATIM))
def test_verbatim_kinds_are_the_file_itself(kind: str) -> None:
    assert extract(kind, "\ufeffa\r\nb".encode()) == "\ufeffa\r\nb"


@pytest.mark.parametrize("kind", ["markdown", "html"])
def test_bytes_that_are_not_utf_8_are_refused(kind: str) -> None:
    with pytest.raises(WrongFormat):
        extract(kind, b"\xff")


def test_html_becomes_markdown_without_scripts_and_menus() -> None:
    page = b"""<html><head><title>The  title</title><style>x{}</style></head><body><nav>Menu</nav>
    <h2>Part &amp; one</h2><p>Some <b>bold</b>
    text.</p><ul><li>first</li><li>second</li></ul><pre>
def f():
    return 1
</pre><script>alert()</script></body></html>"""

    assert extract("html", page) == (
        "# The title\n## Part & one\n\nSome bold text.\n\n- first\n- second\n\n```\ndef f():\n    return 1\n```\n"
    )


def test_html_with_unclosed_elements_is_read_to_its_end() -> None:
    assert extract("html", b"<h1>A<p>b<pre>c") == "# A\n\nb\n\n```\nc\n"


def test_a_notebook_keeps_text_and_code_and_drops_outputs() -> None:
    notebook = b"""{"cells":[{"cell_type":"markdown","source":["# Title\\n","text"]},
    {"cell_type":"code","source":"x = 1","outputs":[{"text":"noise"}]},{"cell_type":"code","source":[]}]}"""

    assert extract("notebook", notebook) == "# Title\ntext\n\n```\nx = 1\n```\n"


@pytest.mark.parametrize(
    "raw", [b"", b"[]", b"{}", b'{"cells":1}', b'{"cells":[1]}', b'{"cells":[{"source":{}}]}', b'{"cells":[{"source":[1]}]}']
)
def test_an_invalid_notebook_is_refused(raw: bytes) -> None:
    with pytest.raises(WrongFormat):
        extract("notebook", raw)


def test_a_pdf_becomes_one_section_per_page() -> None:
    writer = pypdf.PdfWriter()
    writer.add_blank_page(72, 72)
    buffer = io.BytesIO()
    writer.write(buffer)

    assert can_extract("pdf")
    assert extract("pdf", buffer.getvalue()) == ""
    assert "Hello" in extract("pdf", _pdf_with_text(b"Hello"))


def test_the_outline_of_a_pdf_gives_the_headings() -> None:
    writer = pypdf.PdfWriter(io.BytesIO(_pdf_with_text(b"Hello")))
    writer.append(io.BytesIO(_pdf_with_text(b"World")))
    part = writer.add_outline_item("Part  one", 0)
    writer.add_outline_item("Chapter", 0, parent=part)
    buffer = io.BytesIO()
    writer.write(buffer)

    assert extract("pdf", buffer.getvalue()) == "# Part one\n\n## Chapter\n\nHello\n\n## Page 2\n\nWorld\n\n"


def test_a_broken_pdf_is_refused() -> None:
    with pytest.raises(WrongFormat):
        extract("pdf", b"%PDF-1.4 nonsense")


def _pdf_with_text(text: bytes) -> bytes:
    """A minimal hand-written PDF with one line of text."""
    stream = b"BT /F1 12 Tf 10 50 Td (%b) Tj ET" % text
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%b\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    raw, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(raw))
        raw += b"%d 0 obj%b endobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    start = len(raw)
    raw += b"xref\n0 6\n0000000000 65535 f \n" + table
    return raw + b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % start
