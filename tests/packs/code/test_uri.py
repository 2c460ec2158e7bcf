"""File URIs: decoded once, in one spelling, and refused whenever they are not absolute paths on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.packs.code.uri import UriRefused, parse_file_uri, render_file_uri


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///w/a.py", "/w/a.py"),
        ("file:/w/a.py", "/w/a.py"),
        ("file:////w//a.py", "/w/a.py"),
        ("file:///w/a%20b.py", "/w/a b.py"),
        ("file:///w/a b.py", "/w/a b.py"),
        ("file:///w/%C3%A9.py", "/w/é.py"),
        ("file:///w/é.py", "/w/é.py"),
        ("file:///w/x/%2e%2e/a.py", "/w/a.py"),
        ("file:///w/x/..%2fa.py", "/w/a.py"),
        ("file:///w/../../../etc/passwd", "/etc/passwd"),
        ("file:///w/%252e%252e/a.py", "/w/%2e%2e/a.py"),
        ("file:///w/a.py?query#fragment", "/w/a.py"),
        ("file:///w/a.py#L5", "/w/a.py"),
        ("file:///w/a%23b.py", "/w/a#b.py"),
        ("file:///w/a\\b.py", "/w/a\\b.py"),
        ("file:///", "/"),
    ],
)
def test_a_uri_is_decoded_once_and_collapsed(uri: str, path: str) -> None:
    assert parse_file_uri(uri) == path


@pytest.mark.parametrize(
    "uri",
    [
        "", "file:", "file://", "file:a.py", "file:./a.py", "file://host/w/a.py", "file://localhost/w/a.py", "file://..",
        "file:///w/%", "file:///w/%4", "file:///w/%zz.py", "file:///w/%ff.py", "file:///w/%c3.py", "file:///w/a%00.py",
        "file:///w/a\x00.py", "file:///w/a\n.py", "file:///w/%0a", "http://w/a.py", "/w/a.py", "FILE:///w/a.py",
        "untitled:a", "file:///w/\ud800.py",
    ],
)  # fmt: skip
def test_anything_else_is_refused(uri: str) -> None:
    with pytest.raises(UriRefused):
        parse_file_uri(uri)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/"), min_size=1, max_size=20))
def test_a_path_survives_the_round_trip_in_ascii(name: str) -> None:
    path = Path("/w") / name
    uri = render_file_uri(path)

    assert uri.isascii()
    if name not in (".", ".."):
        assert parse_file_uri(uri) == f"/w/{name}"


def test_everything_but_the_unreserved_characters_is_encoded() -> None:
    assert render_file_uri(Path("/w/a-b_c.d~e f@g+h(i).py")) == "file:///w/a-b_c.d~e%20f%40g%2Bh%28i%29.py"
