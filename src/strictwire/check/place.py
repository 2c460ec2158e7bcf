"""Where in a JSON text a pointer leads: line and column, for people and editors.

Not a parser: the text was accepted by `canon` before. Run only when there is something to report.
"""

from __future__ import annotations

import json
import re
from typing import Final

_TOKEN: Final = re.compile(r'[ \t\r\n]*("(?:[^"\\]|\\.)*"|[][{}:,]|[^][{}:, \t\r\n"]+)')


def locate(text: str, pointer: str) -> tuple[int, int]:
    """The line and column, from one, of the value at the pointer; of a member, the place of its name.

    A pointer that leads nowhere gives the place of the deepest part that exists.
    """
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    return line_and_column(text, _find(text, steps))


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """The line and column, from one, of a character offset."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def offset_place(raw: bytes, offset: int) -> tuple[int, int]:
    """The line and column of a byte offset in a text that may not be UTF-8."""
    text = raw[:offset].decode("utf-8", "replace")
    return line_and_column(text, len(text))


def _find(text: str, steps: list[str]) -> int:
    position = _skip_space(text, 0)
    best = position
    for step in steps:
        found = _member(text, position, step) if text[position] == "{" else _element(text, position, step)
        if found is None:
            return best
        best, position = found
    return best


def _member(text: str, position: int, name: str) -> tuple[int, int] | None:
    """The place of a member's name and of its value."""
    position = _skip_space(text, position + 1)
    while text[position] != "}":
        token = _token(text, position)
        value = _skip_space(text, _token(text, token.end()).end())
        if json.loads(token[1]) == name:
            return position, value
        position = _next(text, _end_of_value(text, value))
    return None


def _element(text: str, position: int, step: str) -> tuple[int, int] | None:
    if text[position] != "[" or not step.isdigit():
        return None
    position = _skip_space(text, position + 1)
    for _ in range(int(step)):
        if text[position] == "]":
            return None
        position = _next(text, _end_of_value(text, position))
    return None if text[position] == "]" else (position, position)


def _end_of_value(text: str, position: int) -> int:
    depth = 0
    while True:
        token = _token(text, position)
        depth += (token[1] in "{[") - (token[1] in "}]")
        position = token.end()
        if depth == 0:
            return position


def _next(text: str, position: int) -> int:
    """Past the comma, or at the closing bracket."""
    position = _skip_space(text, position)
    return _skip_space(text, position + 1) if text[position] == "," else position


def _skip_space(text: str, position: int) -> int:
    while text[position] in " \t\r\n":
        position += 1
    return position


def _token(text: str, position: int) -> re.Match[str]:
    token = _TOKEN.match(text, position)
    if token is None:
        raise ValueError("not a JSON text")
    return token
