"""Writes Unity's YAML dialect: two-space indent, sequences level with their key, wrapping at column 80.

The emission rules are those of libyaml, which Unity uses: a flow mapping or a scalar breaks at the first place after
column 80. Unlike YAML, ` #` stays plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

HEADER: Final = "%YAML 1.1\n%TAG !u! tag:unity3d.com,2011:\n"
WIDTH: Final = 80


@dataclass(frozen=True, slots=True)
class Ref:
    """A reference: `{fileID: N}` or `{fileID: N, guid: G, type: T}`."""

    file_id: int = 0
    guid: str = ""
    type: int = 3

    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The members as they are written."""
        own = (("fileID", str(self.file_id)),)
        return (*own, ("guid", self.guid), ("type", str(self.type))) if self.guid else own


@dataclass(frozen=True, slots=True)
class Flow:
    """A mapping in one pair of braces, such as a vector."""

    members: tuple[tuple[str, str], ...]

    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The members as they are written."""
        return self.members


Value: TypeAlias = "str | int | float | Ref | Flow | Mapping[str, Value] | Sequence[Value]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One object of a file."""

    class_id: int
    file_id: int
    type_name: str
    body: Mapping[str, Value] = field(default_factory=dict)
    stripped: bool = False


NULL: Final = Ref()


def vector(**parts: float) -> Flow:
    """`{x: 0, y: 0, z: 0}`."""
    return Flow(tuple((name, number_text(part)) for name, part in parts.items()))


def render_file(documents: Iterable[Document]) -> bytes:
    """A whole scene, prefab or asset."""
    return (HEADER + "".join(render_document(each) for each in documents)).encode()


def render_document(document: Document) -> str:
    """One document with its header line."""
    stripped = " stripped" if document.stripped else ""
    head = f"--- !u!{document.class_id} &{document.file_id}{stripped}\n{document.type_name}:\n"
    return head + render_block(document.body, 2)


def render_block(body: Mapping[str, Value], indent: int = 0) -> str:
    """A block mapping at an indent; also the text of a .meta file."""
    return "\n".join(_mapping(body, indent, " " * indent)) + "\n"


def _mapping(body: Mapping[str, Value], indent: int, first: str) -> Iterator[str]:
    """`first` stands before the first key: spaces, or spaces and the dash of a sequence."""
    lead = first
    for key, value in body.items():
        yield from _member(f"{lead}{key}:", value, indent)
        lead = " " * indent


def _member(start: str, value: Value, indent: int) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield start if value else f"{start} {{}}"
        yield from _mapping(value, indent + 2, " " * (indent + 2))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        yield start if value else f"{start} []"
        for item in value:
            yield from _item(item, indent)
    else:
        yield from _leaf(f"{start} ", value, indent + 2)


def _item(value: Value, indent: int) -> Iterator[str]:
    dash = " " * indent + "- "
    if isinstance(value, Mapping):
        yield from _mapping(value, indent + 2, dash)
    else:
        yield from _leaf(dash, value, indent + 2)


def _leaf(start: str, value: Value, indent: int) -> Iterator[str]:
    if isinstance(value, Ref | Flow):
        yield from _flow(start, value.pairs(), indent)
    elif isinstance(value, str):
        yield from _text(start, value, indent)
    else:
        yield start + number_text(value)


def _flow(start: str, pairs: Sequence[tuple[str, str]], indent: int) -> Iterator[str]:
    line = start + "{"
    for number, (key, value) in enumerate(pairs):
        if number:
            line += ","
            if len(line) > WIDTH:
                yield line
                line = " " * indent
            else:
                line += " "
        line += f"{key}: {value}"
    yield line + "}"


_PLAIN: Final = re.compile(r"""(?![-?:,\[\]{}#&*!|>'"%@`\s]) (?:(?!:\ |:$)[\x20-\x7e])* (?<!\s)""", re.VERBOSE)
_QUOTABLE: Final = re.compile(r"[\x20-\x7e]*")
_ESCAPES: Final = {
    "\n": "\\n",
    "\t": "\\t",
    "\r": "\\r",
    "\0": "\\0",
    '"': '\\"',
    "\\": "\\\\",
    "\x07": "\\a",
    "\x1b": "\\e",
}


def _text(start: str, text: str, indent: int) -> Iterator[str]:
    if _PLAIN.fullmatch(text):
        yield from _wrapped(start, text, indent)
    elif _QUOTABLE.fullmatch(text):
        yield from _wrapped(f"{start}'", text.replace("'", "''"), indent, end="'")
    else:
        yield from _escaped(start + '"', text, indent)


def _wrapped(start: str, text: str, indent: int, end: str = "") -> Iterator[str]:
    """Break at a single space after column 80; a run of spaces is never broken, because folding would lose some."""
    line = start
    for position, char in enumerate(text):
        is_single = char == " " and 0 < position < len(text) - 1 and " " not in (text[position - 1], text[position + 1])
        if is_single and len(line) > WIDTH:
            yield line
            line = " " * indent
        else:
            line += char
    yield line + end


def _escaped(start: str, text: str, indent: int) -> Iterator[str]:
    """Double quotes: everything but printable ASCII is an escape. A break eats the space it stands for."""
    line = start
    for position, char in enumerate(text):
        inner = 0 < position < len(text) - 1
        if char == " " and inner and len(line) > WIDTH and text[position - 1] != " ":
            yield line
            # A second space would be folded away, so it is escaped.
            line = " " * indent + ("\\" if text[position + 1] == " " else "")
        else:
            line += _ESCAPES.get(char) or (char if char.isprintable() and char.isascii() else _hex(char))
    yield line + '"'


def _hex(char: str) -> str:
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"


def number_text(value: float | str) -> str:
    """Numbers as Unity prints them: at most seven significant digits for floats, no trailing `.0`."""
    return f"{value:.7g}" if isinstance(value, float) else str(value)


def iter_refs(value: Value) -> Iterator[Ref]:
    """Every reference in a body."""
    if isinstance(value, Ref):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from iter_refs(each)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for each in value:
            yield from iter_refs(each)
