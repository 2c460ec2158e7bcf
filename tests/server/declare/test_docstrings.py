"""Descriptions of parameters in docstrings of the three common styles."""

from __future__ import annotations

import pytest

from strictwire.server.declare.docstrings import Docstring, read_docstring

GOOGLE = """Finds notes
in a folder.

Longer text.

Args:
    query (str): The words to find,
        in any order.
    limit: How many: at most 100.

Returns:
    limit: not a parameter.
"""
NUMPY = """Finds notes in a folder.

Parameters
----------
query : str
    The words to find,
    in any order.
limit, offset : int, optional
    A n.

Returns
-------
list
    Not a parameter.
"""
SPHINX = """Finds notes in a folder.

:param query: The words to find,
    in any order.
:param int limit: How many.
:type limit: int
:returns: Not a parameter.
"""
TIGHT = """Finds notes.
:param query: The words.
"""
WORDS = "The words to find, in any order."

STYLES: list[tuple[str, Docstring]] = [
    (GOOGLE, Docstring(summary="Finds notes in a folder.", parameters={"query": WORDS, "limit": "How many: at most 100."})),
    (NUMPY, Docstring(summary="Finds notes in a folder.", parameters={"query": WORDS, "limit": "A n.", "offset": "A n."})),
    (SPHINX, Docstring(summary="Finds notes in a folder.", parameters={"query": WORDS, "limit": "How many."})),
    (TIGHT, Docstring(summary="Finds notes.", parameters={"query": "The words."})),
    ("One line.", Docstring(summary="One line.")),
    ("", Docstring()),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), STYLES, ids=["google", "numpy", "sphinx", "tight", "line", "empty"])
def test_each_style_is_read(text: str, expected: Docstring) -> None:
    def function() -> None: ...

    function.__doc__ = text

    assert read_docstring(function) == expected
