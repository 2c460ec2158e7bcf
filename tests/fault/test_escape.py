"""Text from clients and upstreams cannot control the place where a person reads it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.fault.escape import (
    for_csv,
    for_json_line,
    for_markdown,
    for_markdown_code,
    for_terminal,
    for_terminal_lines,
)

HIDDEN = {
    "an escape sequence": ("\x1b[2J", "\\u001b[2J"),
    "a C1 control": ("\x9b2J", "\\u009b2J"),
    "a line break": ("a\nb", "a\\u000ab"),
    "a carriage return": ("a\rb", "a\\u000db"),
    "a line separator": ("a\u2028b", "a\\u2028b"),
    "a bidirectional override": ("\u202eabc", "\\u202eabc"),
    "a bidirectional isolate": ("\u2066abc", "\\u2066abc"),
    "a zero width space": ("a\u200bb", "a\\u200bb"),
    "a tag": ("\U000e0041", "\\ue0041"),
    "a lone surrogate": ("\ud800", "\\ud800"),
    "delete": ("\x7f", "\\u007f"),
}


@pytest.mark.parametrize("kind", HIDDEN)
def test_what_is_not_seen_is_shown_as_an_escape(kind: str) -> None:
    text, shown = HIDDEN[kind]

    assert for_terminal(text) == shown


@given(st.text())
def test_a_line_for_the_terminal_is_printable_whatever_it_is_made_of(text: str) -> None:
    assert for_terminal(text).isprintable()
    assert all(line.isprintable() for line in for_terminal_lines(text).split("\n"))


@given(st.text())
def test_a_line_of_json_is_printable_and_keeps_its_value(text: str) -> None:
    line = for_json_line(json.dumps({"name": text}, ensure_ascii=False))

    assert line.isprintable()
    assert json.loads(line) == {"name": text}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", "a\\|b"),
        ("[x](http://evil)", "\\[x\\](http:&#8203;//evil)"),
        ("<img src=x onerror=y>", "&lt;img src=x onerror=y>"),
        ("&lt;script>", "&amp;lt;script>"),
        ("`code` and **strong**", "\\`code\\` and \\*\\*strong\\*\\*"),
        ("a\n# Heading", "a\\\\u000a# Heading"),
        ("my_tool.name-1", "my\\_tool.name-1"),
        ("@someone #12", "@&#8203;someone #&#8203;12"),
    ],
)
def test_text_in_markdown_has_no_markup_of_its_own(text: str, shown: str) -> None:
    assert for_markdown(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"), [("a", "`a`"), ("a`b", "``a`b``"), ("`", "`` ` ``"), ("", '`""`'), ("a\nb", "`a\\u000ab`")]
)
def test_text_in_a_code_span_cannot_leave_it(text: str, shown: str) -> None:
    assert for_markdown_code(text) == shown


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1"])
def test_a_cell_of_a_spreadsheet_is_not_a_formula(text: str) -> None:
    assert for_csv(text).startswith("'")
    assert for_csv(text).isprintable()


def test_a_plain_cell_is_unchanged() -> None:
    assert for_csv("plain, with a comma") == "plain, with a comma"
