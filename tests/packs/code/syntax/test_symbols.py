"""Symbols by syntax alone, in every grammar that ships."""

from __future__ import annotations

from typing import Any

import pytest

from strictwire.packs.code.syntax.definitions import DEFINITIONS
from strictwire.packs.code.syntax.grammar import grammar_version, maybe_grammar
from strictwire.packs.code.syntax.symbols import document_symbols
from strictwire.packs.kit.grammars import GRAMMARS

CASES: dict[str, tuple[str, list[Any]]] = {
    "python": (
        "X = 1\nclass A:\n    def m(self):\n        def inner(): pass\ndef f(): pass\n",
        [("X", 13), ("A", 5, [("m", 6, [("inner", 12)])]), ("f", 12)],
    ),
    "javascript": (
        "const v = 1;\nexport const w = () => 1;\nfunction f() { function g() {} }\nfunction* h() {}\nclass A { m() {} }\n",
        [("v", 13), ("w", 12), ("f", 12, [("g", 12)]), ("h", 12), ("A", 5, [("m", 6)])],
    ),
    "typescript": (
        "abstract class A { x = 1; m() {} }\ninterface I {}\ntype T = 1;\nenum E { P }\nnamespace N { function f() {} }\n",
        [("A", 5, [("x", 7), ("m", 6)]), ("I", 11), ("T", 26), ("E", 10), ("N", 3, [("f", 12)])],
    ),
    "tsx": ("export const View = () => <div/>;\n", [("View", 12)]),
    "go": (
        (
            "package p\nconst C = 1\nvar v int\ntype S struct{}\ntype I interface{}\ntype N int\ntype A = int\n"
            "func F() {}\nfunc (s S) M() {}\n"
        ),
        [("C", 14), ("v", 13), ("S", 23), ("I", 11), ("N", 26), ("A", 26), ("F", 12), ("M", 6)],
    ),
    "rust": (
        (
            "mod m { fn f() {} }\nstruct S;\nimpl S { fn g(&self) {} }\nenum E { P }\ntrait T { fn h(); }\n"
            "const C: i32 = 1;\nstatic V: i32 = 1;\ntype A = i32;\nmacro_rules! mac { () => {} }\nunion U { a: i32 }\n"
        ),
        [
            ("m", 2, [("f", 12)]),
            ("S", 23),
            ("S", 19, [("g", 6)]),
            ("E", 10, [("P", 22)]),
            ("T", 11, [("h", 6)]),
            ("C", 14),
            ("V", 13),
            ("A", 26),
            ("mac", 12),
            ("U", 23),
        ],
    ),
    "java": (
        "class A { int x; A() {} void m() {} enum E { P } }\ninterface I {}\nrecord R(int a) {}\n",
        [("A", 5, [("x", 8), ("A", 9), ("m", 6), ("E", 10, [("P", 22)])]), ("I", 11), ("R", 5)],
    ),
    "c": (
        (
            "#define K 1\n#define M(x) x\nstruct s { int a; };\nunion u { int a; };\nenum e { P };\ntypedef int t;\n"
            "int f(int x) { return x; }\nint *g(void) { return 0; }\n"
        ),
        [("K", 14), ("M", 12), ("s", 23), ("u", 23), ("e", 10), ("t", 26), ("f", 12), ("g", 12)],
    ),
    "cpp": (
        "namespace n { class C { void m() {} }; using A = int; }\nvoid n::C::q() {}\n",
        [("n", 3, [("C", 5, [("m", 6)]), ("A", 26)]), ("n::C::q", 12)],
    ),
}
"""Grammar to a source, and the name and kind of each symbol with those inside it."""


def short(symbols: list[dict[str, Any]]) -> list[Any]:
    return [
        (each["name"], each["kind"], short(each["children"])) if each["children"] else (each["name"], each["kind"])
        for each in symbols
    ]


@pytest.mark.parametrize("grammar", CASES)
def test_declarations_are_found_with_their_kind_and_nesting(grammar: str) -> None:
    source, expected = CASES[grammar]

    assert short(document_symbols(grammar, source.encode())) == expected


def test_every_grammar_has_definitions_a_case_and_a_version() -> None:
    assert set(DEFINITIONS) == set(CASES) == set(GRAMMARS)
    assert all(grammar_version(grammar)[0].isdigit() for grammar in GRAMMARS)


def test_ranges_are_in_utf16_and_name_the_declaration_and_its_name() -> None:
    (symbol,) = document_symbols("python", "x = '😀'; y = 1\ndef f():\n    pass\n".encode())[2:]

    assert symbol == {
        "name": "f",
        "kind": 12,
        "range": {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 8}},
        "selectionRange": {"start": {"line": 1, "character": 4}, "end": {"line": 1, "character": 5}},
        "children": [],
    }


def test_characters_before_a_name_count_as_utf16_units() -> None:
    first, second = document_symbols("python", "x = '😀é'; y = 1\n".encode())

    assert (first["name"], second["name"], second["selectionRange"]["start"]["character"]) == ("x", "y", 11)


def test_a_file_with_errors_is_read_as_far_as_it_can_be() -> None:
    assert [each["name"] for each in document_symbols("python", b"def good(): pass\n\nclass :::\n\ndef also(): pass\n")] == [
        "good",
        "also",
    ]


def test_an_empty_file_has_no_symbols() -> None:
    assert document_symbols("python", b"") == []


@pytest.mark.parametrize(
    ("path", "grammar"),
    [("a.py", "python"), ("a.TSX", "tsx"), ("a.h", "cpp"), ("a.c", "c"), ("a", None), ("a.txt", None), (".py", "python")],
)
def test_the_name_of_a_file_tells_its_grammar(path: str, grammar: str | None) -> None:
    assert maybe_grammar(f"/x/{path}") == grammar
