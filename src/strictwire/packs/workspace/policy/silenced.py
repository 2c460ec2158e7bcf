"""Finds checks that a change disables: a comment that silences code that was checked before, or a test that ran before.

New code is not examined: an author who writes a new line with its exception shows both to the reviewer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from strictwire.packs.workspace.policy.source import Function, Source, text_of

_SCRIPT_LINE: Final = (
    r"@ts-ignore\b|@ts-expect-error\s*(?:\*/)?$|eslint-disable(?:-next)?-line\s*(?:\*/)?$|tslint:disable(?:-next)?-line\s*$"
)
_NOLINT: Final = r"\bNOLINT(?:NEXTLINE|BEGIN)?\s*(?:\*/)?$|\bNOLINT(?:NEXTLINE|BEGIN)?\(\*?\)"

_LINES: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {
        language: re.compile(pattern)
        for language, pattern in {
            "python": r"(?i)#\s*(?:type:\s*ignore|noqa|nosec|pyright:\s*ignore)\s*(?:#|$)|pylint:\s*disable=all\b",
            "javascript": _SCRIPT_LINE,
            "typescript": _SCRIPT_LINE,
            "tsx": _SCRIPT_LINE,
            "go": r"^//\s*nolint(?::all)?\s*(?://|$)|#nosec\s*$",
            "java": r"\bNOSONAR\b\s*$|CHECKSTYLE[:.]?\s*OFF|\bnoinspection ALL\b",
            "c": _NOLINT,
            "cpp": _NOLINT,
        }.items()
    }
)
"""Language to comments that silence all checks of their own line or of the next. One that names a check does not count."""

_FILES: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {
        language: re.compile(pattern, re.MULTILINE)
        for language, pattern in {
            "python": r"^#\s*(?:mypy:\s*ignore-errors|pyright:\s*ignore-all|type:\s*ignore\s*$)",
            "javascript": r"^/\*\s*(?:tslint|jshint|jslint)[:-]\s*(?:disable|ignore:\s*start)\s*\*/",
            "typescript": r"^/\*\s*tslint:disable\s*\*/",
            "tsx": r"^/\*\s*tslint:disable\s*\*/",
            "c": r'^\s*#\s*pragma\s+(?:GCC|clang)\s+diagnostic\s+ignored\s+"-W(?:all|extra|everything)"',
            "cpp": r'^\s*#\s*pragma\s+(?:GCC|clang)\s+diagnostic\s+ignored\s+"-W(?:all|extra|everything)"',
        }.items()
    }
)
"""Language to comments that exclude a whole file from a check."""


def find_silenced(before: Source, after: Source) -> Iterator[int]:
    """Yield the rows on which a change silences checks of existing code, or of the whole file."""
    had, known = Counter(code for _, code in _silenced(before)), set(_bare_lines(before))
    for row, code in _silenced(after):
        if had[code] > 0:
            had[code] -= 1
        elif code in known:
            yield row
    files = _FILES.get(after.language or "")
    if files is not None and not files.search(before.text):
        yield from (after.text.count("\n", 0, each.start()) for each in files.finditer(after.text))


def _silenced(source: Source) -> Iterator[tuple[int, str]]:
    """Yield the rows of comments that silence checks, with the code that they silence."""
    pattern = _LINES.get(source.language or "")
    lines = _bare_lines(source)
    for node in source.comments if pattern else ():
        if pattern is not None and pattern.search(text_of(node)):
            row = node.start_point[0]
            code = lines[row] or next((line for line in lines[row + 1 : row + 4] if line), "")
            if code:
                yield row, code


def _bare_lines(source: Source) -> list[str]:
    """Return the lines without comments and surrounding white space."""
    data = bytearray(source.data)
    for node in source.comments:
        for at in range(node.start_byte, node.end_byte):
            if data[at] != 10:
                data[at] = 32
    return [line.strip() for line in data.decode(errors="replace").split("\n")]


_SKIP_MARKS: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {
        "python": re.compile(r"@(?:\w+\.)*(?:skip|expectedFailure|xfail|disabled?)\b(?!If|Unless|_if)"),
        "java": re.compile(r"@(?:Disabled|Ignore)\b"),
        "rust": re.compile(r"#\[ignore\b"),
    }
)
"""Language to markers in front of a test that is not run."""

_SKIP_CALLS: Final = re.compile(
    r"^(?:(?:pytest|self|unittest)\.)?(?:skip|skipTest)\(|^\w+\.(?:Skip|Skipf|SkipNow)\(|^GTEST_SKIP\("
)
"""First statement of a test that skips it."""

_IS_TEST: Final[Mapping[str, Callable[[str, str], bool]]] = MappingProxyType(
    {
        "python": lambda name, _head: name.rpartition(".")[2].startswith("test"),
        "java": lambda _name, head: "@Test" in head or "@ParameterizedTest" in head,
        "rust": lambda _name, head: "test" in head,
        "go": lambda name, _head: name.startswith("Test"),
        "cpp": lambda name, _head: name.startswith("TEST"),
    }
)

_SCRIPT_TEST: Final = re.compile(
    r"""(?m)^[ \t]*(x?)(it|test|describe|context)((?:\.\w+)*)\(\s*(["'`])(.+?)\4""",
)
_CPP_TEST: Final = re.compile(r"\bTEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(DISABLED_)?(\w+)\s*\)")


def find_skipped(before: Source, after: Source) -> Iterator[int]:
    """Yield the rows of tests that ran before the change and do not run after it."""
    ran = {name for name, (_, runs) in _tests(before).items() if runs}
    yield from (row for name, (row, runs) in _tests(after).items() if name in ran and not runs)


def _tests(source: Source) -> dict[str, tuple[int, bool]]:
    """Return the tests by name: their row, and whether they run."""
    if source.language in ("javascript", "typescript", "tsx"):
        return {
            each[5]: (source.text.count("\n", 0, each.start(2)), not (each[1] or ".skip" in each[3] or ".todo" in each[3]))
            for each in _SCRIPT_TEST.finditer(source.text)
        }
    found = {each.name: each for each in source.functions if _is_test(source, each)}
    return {_test_name(each): (each.node.start_point[0], _runs(source, each)) for each in found.values()}


def _is_test(source: Source, function: Function) -> bool:
    is_test = _IS_TEST.get(source.language or "")
    return is_test is not None and is_test(function.name or text_of(function.node)[:80], _head(function))


def _test_name(function: Function) -> str:
    found = _CPP_TEST.match(text_of(function.node))
    return f"{found[1]}.{found[3]}" if found else function.name


def _runs(source: Source, function: Function) -> bool:
    marks = _SKIP_MARKS.get(source.language or "")
    if marks is not None and marks.search(_head(function)):
        return False
    disabled = _CPP_TEST.match(text_of(function.node))
    if disabled and disabled[2]:
        return False
    first = next(iter(function.statements), None)
    return first is None or not _SKIP_CALLS.match(text_of(first))


def _head(function: Function) -> str:
    """Return what precedes the body of a function: decorators, annotations, attributes and its signature."""
    node: Any = function.node
    inside = text_of(node)[: function.body.start_byte - node.start_byte]
    if node.parent is not None and node.parent.type == "decorated_definition":
        return text_of(node.parent)[: node.start_byte - node.parent.start_byte] + inside
    attributes, before = "", node.prev_named_sibling
    while before is not None and before.type == "attribute_item":
        attributes, before = text_of(before) + attributes, before.prev_named_sibling
    return attributes + inside


_SCRIPT_FILE: Final = r"@ts-nocheck|^/\*\s*eslint-disable\s*\*/$"

_UNCHECKED: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {
        language: re.compile(pattern)
        for language, pattern in {
            "python": r"(?i)^#\s*(?:pylint:\s*(?:disable\s*=\s*all\b|skip-file)|flake8[:=]\s*noqa\s*$|ruff:\s*noqa\s*$)",
            "javascript": _SCRIPT_FILE,
            "typescript": _SCRIPT_FILE,
            "tsx": _SCRIPT_FILE,
            "go": r"^//\s*nolint(?::all)?\s*$",
            "cpp": r"NOLINTBEGIN\s*(?:\*/)?$|NOLINTBEGIN\(\*\)",
            "c": r"NOLINTBEGIN\s*(?:\*/)?$|NOLINTBEGIN\(\*\)",
        }.items()
    }
)

_GENERATED: Final = re.compile(
    r"(?i)@generated|\bauto-?generated by\b|"
    r"\b(?:auto-?|automatically\s)?generated\b[^\n]{0,80}(?:\n[^\n]{0,80}){0,3}\b(?:do\snot|don't)\s(?:edit|modify|change)"
)
_HEAD: Final = 1500
"""Characters at the top of a file in which it can declare that it is generated."""


def find_unchecked(source: Source) -> Iterator[int]:
    """Yield the rows of comments that disable all checks of a file. Generated files are exempt."""
    pattern = _UNCHECKED.get(source.language or "")
    if pattern is None or _GENERATED.search(source.text[:_HEAD]):
        return
    yield from (node.start_point[0] for node in source.comments if pattern.search(text_of(node)))
