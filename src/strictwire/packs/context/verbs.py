"""The verbs of the command line as plain functions: parsed options in, exit code and bytes out. Prints nothing.

Exit codes: 0 ok, 1 usage, 2 invalid query, 3 invalid budget, 4 cache missing, 5 cache invalid, 6 I/O, 7 internal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import indent, render
from strictwire.fault.failure import Refused
from strictwire.packs.context.arguments import check_query, parse_budget
from strictwire.packs.context.build import Built, Order, Progress, build
from strictwire.packs.context.extract import can_extract
from strictwire.packs.context.ingest import NotBuilt
from strictwire.packs.context.library import load_generation
from strictwire.packs.context.render import render_selection
from strictwire.packs.context.rules import Unusable
from strictwire.packs.context.select import select
from strictwire.packs.context.survey import find_violations, inspect_fully, list_caches

USAGE: Final = 1
_MOST_ATTEMPTS: Final = 4

EXIT_CODES: Final[Mapping[str, int]] = MappingProxyType(
    {
        "INVALID_QUERY": 2,
        "INVALID_BUDGET": 3,
        "CACHE_MISSING": 4,
        "CACHE_INVALID": 5,
        "IO_ERROR": 6,
        "INTERNAL": 7,
    }
)
"""Failure code to exit code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a verb gives: an exit code and what goes to each stream."""

    exit_code: int = 0
    stdout: bytes = b""
    stderr: bytes = b""


def run_build(order: Order, *, now: Callable[[], datetime], progress: Progress = lambda _done, _all: None) -> Answer:
    """`build --sources DIR --cache DIR [--force]`: nothing on stdout, one line with count and version on stderr."""
    absent = sorted(kind for kind in order.kinds if not can_extract(kind))
    if absent:
        return Answer(exit_code=USAGE, stderr=b"error: pdf needs the extra: pip install 'strictwire[pdf]'\n")
    try:
        return Answer(stderr=render_built(build(order, now=now, progress=progress)))
    except NotBuilt as refused:
        return _refusal(refused)


def render_built(built: Built) -> bytes:
    """The line a build ends with."""
    what = "built" if built.replaced else "unchanged:"
    return f"{what} {built.document_count} documents, {built.cache_version}\n".encode()


def run_resolve(cache: Path, *, query: str, budget: str, pretty: bool = False) -> Answer:
    """`resolve --cache DIR --query STR --budget N [--format json|pretty]`: the selection and one newline on stdout."""
    try:
        tokens = parse_budget(budget)
        question = check_query(query)
    except Refused as refused:
        return _refusal(refused)

    def resolve() -> Answer:
        index = load_generation(cache).index
        answer = render_selection(index, select(index, question, tokens))
        return Answer(stdout=(indent(answer) if pretty else answer) + b"\n")

    return _ask_standing(cache, resolve)


def run_inspect(cache: Path) -> Answer:
    """`inspect --cache DIR`: four facts, always pretty. A directory without a manifest is no cache here: exit 4."""

    def inspect() -> Answer:
        try:
            return Answer(stdout=indent(render(asdict(inspect_fully(cache)))) + b"\n")
        except Unusable as refused:
            missing = refused.rule.id == "MANIFEST_EXISTS"
            raise Unusable("CACHE_EXISTS", str(cache)) if missing else refused from None

    return _ask_standing(cache, inspect)


def run_verify(cache: Path) -> Answer:
    """`verify --cache DIR`: every rule that is broken, as JSON; exit 0 when none is, else that of the first."""

    def verify() -> Answer:
        found = find_violations(cache)
        violations = [
            {"rule": each.rule.id, "code": each.failure.code.lower(), "subject": _plain(each.subject)} for each in found
        ]
        exit_code = EXIT_CODES[found[0].failure.code] if found else 0
        return Answer(exit_code=exit_code, stdout=indent(render({"valid": not found, "violations": violations})) + b"\n")

    return _ask_standing(cache, verify)


def run_list(root: Path) -> Answer:
    """`list --root DIR`: what the tool context.list_caches answers, and one newline."""
    try:
        return Answer(stdout=render(list_caches(str(root))) + b"\n")
    except Unusable as refused:
        return _refusal(refused)


def _ask_standing(cache: Path, ask: Callable[[], Answer]) -> Answer:
    """The answer of a cache that stood still: what took its place while it was read is asked again, four times at most.

    A cache that was replaced is taken apart, perhaps before it was read to its end; that must not look like a broken one.
    """
    for _ in range(_MOST_ATTEMPTS):
        before = _identity(cache)
        try:
            answer = ask()
        except Unusable as refused:
            answer = _refusal(refused)
        if before == _identity(cache):
            break
    return answer


def _identity(cache: Path) -> tuple[int, int, int] | None:
    try:
        status = cache.stat()
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino, status.st_ctime_ns


def _refusal(refused: Refused) -> Answer:
    text = refused.failure.text
    if isinstance(refused, NotBuilt):
        text = f"{refused.reason}: {refused.subject}" if refused.subject else refused.reason
    elif isinstance(refused, Unusable) and refused.subject:
        text = f"{text} ({refused.rule.id}: {refused.subject})"
    return Answer(exit_code=EXIT_CODES[refused.failure.code], stderr=f"error: {_plain(text)}\n".encode())


def _plain(text: str) -> str:
    """Text for people from a path that may not be UTF-8."""
    return text.encode(errors="replace").decode()
