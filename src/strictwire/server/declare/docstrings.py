"""Reads docstrings: the description of a function, and those of its parameters in Google, NumPy and Sphinx style."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Docstring:
    """What a docstring says."""

    summary: str = ""
    """The first paragraph, in one line."""
    parameters: Mapping[str, str] = field(default_factory=dict)


def read_docstring(function: Callable[..., Any]) -> Docstring:
    """Read the docstring of a function. Text that has no known form is ignored."""
    documented = function.func if isinstance(function, functools.partial) else function
    text = inspect.getdoc(documented) or ""
    lines = text.splitlines()
    found = dict(_sphinx(lines)) | dict(_google(lines)) | dict(_numpy(lines))
    return Docstring(summary=_summary(text), parameters=found)


def _summary(text: str) -> str:
    """The first paragraph. A docstring may begin its parameters without an empty line."""
    lines = text.partition("\n\n")[0].splitlines()
    end = next((n for n, line in enumerate(lines) if _BEGINS_SECTION.match(line)), len(lines))
    return " ".join(line.strip() for line in lines[:end])


_BEGINS_SECTION: Final = re.compile(r"\s*(:param |:return|:raise|(Args|Arguments|Parameters|Returns|Raises):?\s*$)")
_SPHINX: Final = re.compile(r"\s*:param\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)")
_GOOGLE_HEAD: Final = re.compile(r"(?:Args|Arguments|Parameters):\s*$")
_GOOGLE_ITEM: Final = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")
_NUMPY_RULE: Final = re.compile(r"-{3,}\s*$")
_NUMPY_ITEM: Final = re.compile(r"(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?$")


def _sphinx(lines: list[str]) -> Iterator[tuple[str, str]]:
    """`:param name: text`, `:param type name: text`."""
    for index, line in enumerate(lines):
        found = _SPHINX.match(line)
        if found:
            rest = _indented(lines[index + 1 :], _indent(line) + 1)
            yield found[1], _join([found[2], *(each for each in rest if not each.lstrip().startswith(":"))])


def _google(lines: list[str]) -> Iterator[tuple[str, str]]:
    """A section `Args:` with indented items `name (type): text`."""
    for head, line in enumerate(lines):
        if not _GOOGLE_HEAD.match(line):
            continue
        body = list(_indented(lines[head + 1 :], 1))
        depth = min((_indent(each) for each in body if each.strip()), default=0)
        for index, each in enumerate(body):
            found = _GOOGLE_ITEM.match(each.strip()) if _indent(each) == depth else None
            if found:
                yield found[1], _join([found[2], *_indented(body[index + 1 :], depth + 1)])


def _numpy(lines: list[str]) -> Iterator[tuple[str, str]]:
    """A section `Parameters`, underlined, with items `name : type` and indented texts."""
    for head, line in enumerate(lines[:-1]):
        if line.strip() != "Parameters" or not _NUMPY_RULE.match(lines[head + 1].strip()):
            continue
        body = lines[head + 2 :]
        for index, each in enumerate(body):
            if _NUMPY_RULE.match(each.strip()):
                break
            found = _NUMPY_ITEM.match(each) if each.strip() and not _indent(each) else None
            text = _join(_indented(body[index + 1 :], 1)) if found else ""
            for name in re.findall(r"\w+", found[1]) if found and text else ():
                yield name, text


def _indented(lines: list[str], depth: int) -> Iterator[str]:
    """The lines up to the first one that is indented less. Empty lines belong to them."""
    for line in lines:
        if line.strip() and _indent(line) < depth:
            return
        yield line


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _join(lines: Iterator[str] | list[str]) -> str:
    return " ".join(filter(None, (line.strip() for line in lines)))
