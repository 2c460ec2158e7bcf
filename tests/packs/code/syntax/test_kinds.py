"""Whether a word stands in code, in a string that may name something, or in prose."""

from __future__ import annotations

import pytest

from strictwire.packs.code.engine import MentionKind
from strictwire.packs.code.syntax.kinds import MentionKinds

CODE, STRING, TEXT = MentionKind.CODE, MentionKind.STRING, MentionKind.TEXT


def kind(grammar: str, source: str) -> tuple[MentionKind, bool]:
    raw = source.encode()
    start = raw.index(b"word")
    kinds = MentionKinds(grammar, raw)
    return kinds.kind_at(start, start + 4), kinds.is_import(start, start + 4)


@pytest.mark.parametrize(
    ("grammar", "source", "expected"),
    [
        ("python", "word()", CODE),
        ("python", "x.word = 1", CODE),
        ("python", "# word", TEXT),
        ("python", "x = 1  # type: word", CODE),
        ("python", 'def f():\n    """The word."""', TEXT),
        ("python", '"""word"""', TEXT),
        ("python", "getattr(x, 'word')", STRING),
        ("python", "patch('package.module.word')", STRING),
        ("python", "print('a word here')", TEXT),
        ("python", "f'{word}'", CODE),
        ("python", "f'a {x.word!r} b'", CODE),
        ("python", "x = {'word': 1}", STRING),
        ("python", "def broken(:\n  word", CODE),
        ("javascript", "// word", TEXT),
        ("javascript", "/** @param {word} x */", CODE),
        ("javascript", "`a ${word} b`", CODE),
        ("javascript", "x['word']", STRING),
        ("javascript", "`a word here`", TEXT),
        ("typescript", "let x: word", CODE),
        ("go", 'x := "word"', STRING),
        ("go", "// word", TEXT),
        ("rust", "/* word */", TEXT),
        ("rust", 'let x = "pkg::word";', STRING),
        ("java", 'class A { String s = "word"; }', STRING),
        ("c", "#define A word", CODE),
        ("c", 'char *s = "a word here";', TEXT),
        ("cpp", "// word", TEXT),
    ],
)
def test_where_a_word_stands(grammar: str, source: str, expected: MentionKind) -> None:
    assert kind(grammar, source)[0] is expected


@pytest.mark.parametrize(
    ("grammar", "source", "expected"),
    [
        ("python", "from a import word", True),
        ("python", "from a import (\n    b,\n    word as c,\n)", True),
        ("python", "import word.x", True),
        ("python", "def word(): pass", False),
        ("typescript", "import { word } from './a'", True),
        ("typescript", "export { word } from './a'", True),
        ("typescript", "export const word = 1", False),
        ("rust", "use a::word;", True),
        ("java", "import a.word;", True),
        ("cpp", "using a::word;", True),
        ("cpp", "int word;", False),
    ],
)
def test_whether_a_word_is_imported(grammar: str, source: str, expected: bool) -> None:
    assert kind(grammar, source)[1] is expected
