"""Which language a file is in."""

from __future__ import annotations

import pytest

from strictwire.packs.code.languages import language_id, maybe_language


@pytest.mark.parametrize(
    ("path", "language", "lsp"),
    [
        ("/a/b.py", "python", "python"),
        ("b.PYI", "python", "python"),
        ("b.tsx", "typescript", "typescriptreact"),
        ("b.mjs", "typescript", "javascript"),
        ("b.h", "cpp", "c"),
        ("b.hpp", "cpp", "cpp"),
        ("b.go", "go", "go"),
        ("/a.py/b", None, "plaintext"),
        (".py", None, "plaintext"),
        ("b.txt", None, "plaintext"),
        ("", None, "plaintext"),
    ],
)
def test_the_name_of_a_file_tells_its_language(path: str, language: str | None, lsp: str) -> None:
    assert (maybe_language(path), language_id(path)) == (language, lsp)
