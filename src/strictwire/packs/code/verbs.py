"""The verbs of `strictwire code`: one tool call each, all its pages, as JSON or as lines for people. Prints nothing."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from strictwire.canon.json import JsonObject, indent, render
from strictwire.fault.failure import Refused, fail
from strictwire.packs.code.catalogue import OPERATIONS
from strictwire.packs.code.documents import units
from strictwire.packs.code.engine import Completeness
from strictwire.packs.code.service import Service
from strictwire.packs.code.terminal import Page
from strictwire.packs.code.uri import render_file_uri

FINDINGS: Final = 100
"""Exit code of `diagnostics` where there are any."""

_PLACE: Final = re.compile(r"(?P<file>.+?):(?P<line>[0-9]{1,9})(?::(?P<column>[0-9]{1,9}))?")

_PAUSE: Final = 0.25
"""Seconds between two calls to an engine that is still indexing."""

_PAGE: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is asked on the command line."""

    verb: str
    subject: str | None = None
    """A place, a name, a file or a pattern, as the verb takes it."""
    arguments: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """Further arguments of the tool."""
    json: bool = False
    wait_seconds: float = 60.0
    """How long an engine may index before its answer is taken as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a verb gives."""

    output: str
    status: str
    """For people: how many, how complete, by which engine."""
    exit_code: int = 0


Progress: TypeAlias = Callable[[str], None]


async def run_verb(service: Service, order: Order, page: Page, progress: Progress = lambda _text: None) -> Result:
    """Run one verb. Raises Refused, as its tool does."""
    operation, arguments = await _request(service, order)
    answer = await _settle(service, operation, arguments, order.wait_seconds, progress)
    shown = indent(render(answer)).decode() if order.json else "\n".join(_SHOW[operation](page, answer, arguments))
    has_findings = any(map(_has_diagnostics, (answer, *answer.get("items", ()))))
    return Result(output=shown, status=_status(answer), exit_code=FINDINGS if has_findings else 0)


def _has_diagnostics(value: JsonObject) -> bool:
    return bool(value.get("diagnostics"))


async def _request(service: Service, order: Order) -> tuple[str, JsonObject]:
    """The operation of a verb and its arguments."""
    subject, more = order.subject, dict(order.arguments)
    if order.verb in ("def", "refs"):
        return _AT_A_PLACE[order.verb], more | await _place(service, subject or "")
    if order.verb == "search":
        return "search", more | {"query": subject}
    if order.verb == "outline":
        return "outline", more | ({"uri": _uri(subject)} if subject else {})
    if order.verb == "symbols":
        return (
            ("documentSymbols", {"uri": _uri(subject or "")})
            if _exists(subject)
            else ("workspaceSymbols", {"query": subject})
        )
    return ("diagnostics_document", {"uri": _uri(subject)}) if subject else ("diagnostics_workspace", {})


_AT_A_PLACE: Final[Mapping[str, str]] = {"def": "definition", "refs": "references"}


def _exists(path: str | None) -> bool:
    return bool(path) and Path(str(path)).exists()


async def _place(service: Service, subject: str) -> JsonObject:
    """`file:line:column`, counted from 1, or the name of a symbol."""
    found = _PLACE.fullmatch(subject)
    if found is None:
        return {"symbol": subject}
    uri, line = _uri(found["file"]), int(found["line"]) - 1
    place = service.gate.admit(uri)
    document = await service.documents.open(place)
    if not 0 <= line < document.line_count:
        raise _past_end(f"{found['file']} has {document.line_count} lines, counted from 1")
    text = document.line(line)
    # Without a column, the first thing that stands on the line.
    column = int(found["column"]) - 1 if found["column"] else len(text) - len(text.lstrip())
    if not 0 <= column <= len(text):
        raise _past_end(f"line {line + 1} of {found['file']} has {len(text)} characters, counted from 1")
    return {"uri": uri, "position": {"line": line, "character": units(text[:column])}}


def _past_end(text: str) -> Refused:
    return Refused(fail("NOT_FOUND", text=text))


def _uri(path: str) -> str:
    return render_file_uri(Path(path).absolute())


async def _settle(service: Service, operation: str, arguments: JsonObject, seconds: float, progress: Progress) -> JsonObject:
    """The whole answer; while an engine is indexing it is asked for again, up to a time."""
    ends = asyncio.get_running_loop().time() + seconds
    while True:
        answer = await _whole(service, operation, arguments)
        is_warming = answer["completeness"] == Completeness.WARMING
        if not is_warming or asyncio.get_running_loop().time() >= ends:
            return answer
        progress(f"{', '.join(each['name'] for each in answer['engines'])} is indexing")
        await asyncio.sleep(_PAUSE)


async def _whole(service: Service, operation: str, arguments: JsonObject) -> JsonObject:
    """An answer with the items of all its pages."""
    if operation not in _PAGED:
        return await _call(service, operation, arguments)
    answer = await _call(service, operation, arguments | {"pageSize": _PAGE})
    while answer["nextCursor"] is not None:
        following = await _call(service, operation, arguments | {"pageSize": _PAGE, "cursor": answer["nextCursor"]})
        lists = {name: answer[name] + following[name] for name in ("items", "mentions") if name in answer}
        answer = following | lists
    return answer


_PAGED: Final = frozenset({"references", "workspaceSymbols", "diagnostics_workspace", "search"})


async def _call(service: Service, operation: str, arguments: JsonObject) -> JsonObject:
    answer: Any = (await OPERATIONS[operation](service, arguments)).structured
    return dict(answer)


_SHOW: Final[Mapping[str, Callable[[Page, JsonObject, JsonObject], Iterator[str]]]] = MappingProxyType(
    {
        "definition": lambda page, answer, _: page.locations(answer),
        "references": lambda page, answer, _: page.locations(answer),
        "workspaceSymbols": lambda page, answer, _: page.symbols(answer),
        "documentSymbols": lambda page, answer, given: page.document_symbols(answer, given["uri"]),
        "outline": lambda page, answer, _: page.outline(answer),
        "diagnostics_document": lambda page, answer, _: page.diagnostics([answer]),
        "diagnostics_workspace": lambda page, answer, _: page.diagnostics(answer["items"]),
        "search": lambda page, answer, _: page.matches(answer),
    }
)
"""Operation to the lines of its answer."""


def _status(answer: JsonObject) -> str:
    engines = ", ".join(dict.fromkeys(f"{each['name']} {each['version']}".strip() for each in answer["engines"]))
    mentions = answer.get("unconfirmed", 0)
    unconfirmed = f"{mentions} unconfirmed mention{'' if mentions == 1 else 's'}" if mentions else ""
    outside = f"{answer['outside']} outside the roots" if answer.get("outside") else ""
    parts = (_counted(answer), answer["completeness"], unconfirmed, outside, answer.get("note", ""), engines)
    return "; ".join(part for part in parts if part)


_NOUNS: Final[Mapping[str, str]] = {
    "locations": "definition",
    "symbols": "symbol",
    "diagnostics": "diagnostic",
    "files": "file",
    "items": "result",
}
"""The member that is counted, and what it holds."""


def _counted(answer: JsonObject) -> str:
    if "candidates" in answer:
        return str(answer["summary"]).rstrip(".")
    member = next(name for name in _NOUNS if name in answer)
    return f"{len(answer[member])} {_NOUNS[member]}{'' if len(answer[member]) == 1 else 's'}"
