"""The commands of `strictwire context` as plain functions: parsed options in, exit code and output out. Prints nothing.

Exit codes: 0 ok, 1 usage, 2 invalid query, 3 invalid budget, 4 cache missing, 5 cache invalid, 6 I/O, 7 internal,
100 the cache was built, but some documents could not be taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from strictwire.canon.json import indent, render
from strictwire.fault.escape import for_terminal, for_terminal_lines
from strictwire.fault.failure import Refused
from strictwire.packs.context.adding import Addition, add_source
from strictwire.packs.context.arguments import check_query, parse_budget
from strictwire.packs.context.build import Built, Order, Progress, build
from strictwire.packs.context.extract import can_extract
from strictwire.packs.context.ingest import NotBuilt
from strictwire.packs.context.inspection import find_violations, inspect_fully, list_caches
from strictwire.packs.context.library import load_generation
from strictwire.packs.context.paths import resolve_name
from strictwire.packs.context.render import render_selection
from strictwire.packs.context.rules import Unusable
from strictwire.packs.context.search.index_store import IndexStore
from strictwire.packs.context.search.searcher import Search, Searcher
from strictwire.packs.context.search.token_counters import open_token_counter
from strictwire.packs.context.select import select

USAGE: Final = 1
"""Exit code of wrong usage."""

SEARCH_WAIT: Final = 3600.0
"""Seconds that the command line waits for an index: a person sees that it works and can stop it."""

INCOMPLETE: Final = 100
"""Exit code of a build that skipped documents. Context Resolve v0 has no such build: a strict one never ends with it."""

_MAX_ATTEMPTS: Final = 4
"""Most reads of a cache that is replaced while it is read."""

_NAMED: Final = 5
"""Most caches that an error names."""

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
class CommandResult:
    """The result of a command: its exit code and its output."""

    exit_code: int = 0
    stdout: bytes = b""
    stderr: bytes = b""


def run_build(
    order: Order,
    *,
    now: Callable[[], datetime],
    progress: Progress = lambda _done, _all: None,
    report: Path | None = None,
) -> CommandResult:
    """`build`: nothing on stdout; one line with count and version on stderr, and the summary if files were skipped."""
    absent = sorted(kind for kind in order.kinds if not can_extract(kind))
    if absent:
        return CommandResult(
            exit_code=USAGE, stderr=b"error: --kind pdf needs an extra; install it with: pip install 'strictwire[pdf]'\n"
        )
    try:
        built = build(order, now=now, progress=progress)
        if report is not None:
            report.write_bytes(indent(render(built.report.as_json())) + b"\n")
    except NotBuilt as refused:
        return _refusal(refused)
    except OSError:
        return _refusal(NotBuilt("IO_ERROR", "the cache was built, but the report cannot be written", str(report)))
    return CommandResult(exit_code=0 if built.report.is_complete else INCOMPLETE, stderr=render_built(built))


def render_built(built: Built) -> bytes:
    """Return what a build prints at its end: count and version, and what was left out."""
    what = "built" if built.replaced else "unchanged:"
    return f"{what} {built.document_count} documents, {built.cache_version}\n{built.report.render()}".encode()


def run_add(
    addition: Addition, *, now: Callable[[], datetime], progress: Progress = lambda _done, _all: None
) -> CommandResult:
    """`add NAME SOURCE --root DIR`: what was added and what was left out on stderr."""
    try:
        built, added = add_source(addition, now=now, progress=progress)
    except NotBuilt as refused:
        return _refusal(refused)
    head = f"added {addition.name} from {for_terminal(added.source)}\n".encode()
    exit_code = 0 if built.report.is_complete else INCOMPLETE
    return CommandResult(exit_code=exit_code, stderr=head + render_built(built))


def run_search(root: Path, search: Search, *, caches: Sequence[str], state: Path, as_json: bool) -> CommandResult:
    """`search QUERY --root DIR`: the passages as text, or the structured content of the tool as JSON."""
    store = IndexStore(state, wait_seconds=SEARCH_WAIT)
    try:
        if not check_query(search.query).strip():
            return _error("INVALID_QUERY", "the query is empty; give a question, words or identifiers")
        known = _names_in(root)
        unknown = [name for name in caches if not _exists(root, name)]
        if unknown or not (caches or known):
            return _missing(root, known, unknown)
        paths = {name: resolve_name(str(root), name) for name in caches or known}
        answer = Searcher(open_token_counter(), store).search(search, paths)
    except Refused as refused:
        return _refusal(refused)
    finally:
        store.close()
    structured: Any = answer.structured
    text = indent(render(structured)) if as_json else _for_people(str(answer.content[0]["text"])).encode()
    return CommandResult(stdout=text + b"\n")


def _names_in(root: Path) -> list[str]:
    """Return the caches of a folder; none if it does not exist."""
    try:
        return [each["path"] for each in list_caches(str(root))["caches"] if each["has_manifest"]]
    except Unusable as refused:
        if refused.failure.code != "CACHE_MISSING":
            raise
        return []


def _exists(root: Path, name: str) -> bool:
    try:
        resolve_name(str(root), name)
    except Unusable:
        return False
    return True


def _missing(root: Path, known: Sequence[str], unknown: Sequence[str]) -> CommandResult:
    if not known:
        text = f"there are no caches in {root}; make one with: strictwire context add NAME SOURCE --root {root}"
    else:
        near = get_close_matches(unknown[0], known, n=1)
        hint = (
            f"did you mean {near[0]}?"
            if near
            else f"there are {', '.join(known[:_NAMED])}" + ", ..." * (len(known) > _NAMED)
        )
        text = f"there is no cache {unknown[0]} in {root}; {hint}"
    return _error("CACHE_MISSING", text)


def run_resolve(cache: Path, *, query: str, budget: str, pretty: bool = False) -> CommandResult:
    """`resolve --cache DIR --query STR --budget N [--format json|pretty]`: the selection and a newline on stdout."""
    try:
        tokens = parse_budget(budget)
        question = check_query(query)
    except Refused as refused:
        return _refusal(refused)

    def resolve() -> CommandResult:
        index = load_generation(cache).index
        answer = render_selection(index, select(index, question, tokens))
        return CommandResult(stdout=(indent(answer) if pretty else answer) + b"\n")

    return _retry_if_replaced(cache, resolve)


def run_inspect(cache: Path) -> CommandResult:
    """`inspect --cache DIR`: four members, always pretty-printed. Without a manifest there is no cache here: exit 4."""

    def inspect() -> CommandResult:
        try:
            return CommandResult(stdout=indent(render(asdict(inspect_fully(cache)))) + b"\n")
        except Unusable as refused:
            missing = refused.rule.id == "MANIFEST_EXISTS"
            raise Unusable("CACHE_EXISTS", str(cache)) if missing else refused from None

    return _retry_if_replaced(cache, inspect)


def run_verify(cache: Path) -> CommandResult:
    """`verify --cache DIR`: every broken rule as JSON. Exit 0 if there is none, otherwise the exit code of the first."""

    def verify() -> CommandResult:
        found = find_violations(cache)
        violations = [
            {"rule": each.rule.id, "code": each.failure.code.lower(), "subject": _plain(each.subject)} for each in found
        ]
        exit_code = EXIT_CODES[found[0].failure.code] if found else 0
        report = indent(render({"valid": not found, "violations": violations}))
        return CommandResult(exit_code=exit_code, stdout=report + b"\n")

    return _retry_if_replaced(cache, verify)


def run_list(root: Path) -> CommandResult:
    """`list --root DIR`: the answer of the tool context.list_caches, and a newline."""
    try:
        return CommandResult(stdout=render(list_caches(str(root))) + b"\n")
    except Unusable as refused:
        if refused.failure.code == "CACHE_MISSING":
            return _error("CACHE_MISSING", f"there is no folder {root}")
        return _refusal(refused)


def _retry_if_replaced(cache: Path, run: Callable[[], CommandResult]) -> CommandResult:
    """Run again, up to four times in all, as long as the cache is replaced by another build during the run.

    A build deletes the cache it has replaced, perhaps while it is still being read. That must not be reported as a broken
    cache.
    """
    for _ in range(_MAX_ATTEMPTS):
        before = _identity(cache)
        try:
            answer = run()
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


def _error(code: str, text: str) -> CommandResult:
    return CommandResult(exit_code=EXIT_CODES[code], stderr=f"error: {for_terminal(text)}\n".encode())


def _refusal(refused: Refused) -> CommandResult:
    text = refused.failure.text
    if isinstance(refused, NotBuilt):
        text = f"{refused.reason}: {refused.subject}" if refused.subject else refused.reason
    elif isinstance(refused, Unusable) and refused.subject:
        text = f"{text} ({refused.rule.id}: {refused.subject})"
    return _error(refused.failure.code, text)


def _for_people(text: str) -> str:
    """Escape what a terminal would act on. Tabs become spaces; JSON output has every character."""
    return for_terminal_lines(text.expandtabs(4))


def _plain(text: str) -> str:
    """Replace characters that are not valid Unicode: a path may not be UTF-8."""
    return text.encode(errors="replace").decode()
