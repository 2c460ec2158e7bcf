"""`strictwire context`: builds and queries document caches. Its exit codes are those of Context Resolve v0."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, Final

import strictwire
from strictwire.fault.escape import for_terminal
from strictwire.packs.context.adding import Addition
from strictwire.packs.context.build import V0_KINDS, Built, Order, Progress
from strictwire.packs.context.extract import KINDS, can_extract
from strictwire.packs.context.follow import TreeChanges, follow
from strictwire.packs.context.ingest import NotBuilt
from strictwire.packs.context.layout import MAX_DOCUMENT_BYTES
from strictwire.packs.context.search.answers import MAX_BUDGET, MIN_BUDGET
from strictwire.packs.context.search.searcher import Search
from strictwire.packs.context.survey import SourceRules
from strictwire.packs.context.verbs import (
    EXIT_CODES,
    USAGE,
    CommandResult,
    render_built,
    run_add,
    run_build,
    run_inspect,
    run_list,
    run_resolve,
    run_search,
    run_verify,
)
from strictwire.settings.places import state_folder

USAGE_EXIT: Final = USAGE
"""Exit code for wrong usage: Context Resolve v0 requires 1."""

EXAMPLES: Final = """examples:
  strictwire context build --sources docs --cache caches/docs
  strictwire context build --sources . --cache caches/project --exclude 'tests/' --report skipped.json
  strictwire context build --sources src --cache caches/src --kind markdown --kind code --watch
  strictwire context build --sources docs --cache caches/docs --strict     exactly as Context Resolve v0 does
  strictwire context add django pypi:django==5.2 --root caches
  strictwire context add handbook ./handbook --root caches --title Handbook
  strictwire context search 'how do I reset a password' --root caches
  strictwire context resolve --cache caches/docs --query 'audit trail' --budget 4000
  strictwire context verify --cache caches/docs

exit codes: 0 ok, 1 usage, 2 invalid query, 3 invalid budget, 4 cache missing, 5 cache invalid, 6 I/O, 7 internal,
100 the cache was built, but some documents could not be taken
"""


class Once(argparse.Action):
    """An option that may be given only once: argparse would silently ignore the first of two values."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        """Set the value, or report an error if it is set already."""
        if getattr(namespace, f"_given_{self.dest}", False):
            parser.error(f"{option_string} is given twice")
        setattr(namespace, f"_given_{self.dest}", True)
        setattr(namespace, self.dest, values)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands and their options."""
    parser.add_argument("--version", action="version", version=f"strictwire {strictwire.__version__}")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="COMMAND", parser_class=type(parser))
    _configure_build(_verb(verbs, "build", "build a cache from a folder of documents"))
    _configure_add(_verb(verbs, "add", "make or update a named cache from a folder, an archive or a package"))
    _configure_search(_verb(verbs, "search", "find passages in all caches of a folder"))
    resolve = _verb(verbs, "resolve", "select documents for a query within a token budget")
    _cache(resolve)
    resolve.add_argument("--query", required=True, action=Once, metavar="TEXT")
    resolve.add_argument("--budget", required=True, action=Once, metavar="N")
    resolve.add_argument("--format", action=Once, choices=("json", "pretty"), default="json")
    _cache(_verb(verbs, "inspect", "show the version and size of a cache"))
    _cache(_verb(verbs, "verify", "check every rule of a cache and report violations"))
    _verb(verbs, "list", "list the caches in a folder").add_argument("--root", required=True, action=Once, metavar="DIR")


def _configure_build(build: argparse.ArgumentParser) -> None:
    build.add_argument("--sources", required=True, action=Once, metavar="DIR", type=Path, help="folder of documents")
    _cache(build)
    _configure_rules(build)
    build.add_argument("--force", action="store_true", help="replace an existing cache atomically")
    build.add_argument("--watch", action="store_true", help="rebuild whenever a document changes")
    build.add_argument("--report", action=Once, type=Path, metavar="FILE", help="write every skipped file and its reason")


def _configure_rules(build: argparse.ArgumentParser) -> None:
    build.add_argument(
        "--kind",
        action="append",
        choices=sorted(KINDS),
        help="kind of documents; may be repeated (default: every kind; with --strict: markdown)",
    )
    build.add_argument(
        "--strict", action="store_true", help="the rules of Context Resolve v0: Markdown only, refuse what cannot be taken"
    )
    build.add_argument(
        "--include", action="append", type=_pattern, metavar="GLOB", help="take only files that match; may be repeated"
    )
    build.add_argument(
        "--exclude", action="append", type=_pattern, metavar="GLOB", help="leave out files and folders that match"
    )
    build.add_argument("--no-gitignore", action="store_true", help="also take files that .gitignore leaves out")
    build.add_argument("--max-bytes", type=_size, metavar="N", default=MAX_DOCUMENT_BYTES, help="skip larger files")


def _configure_add(add: argparse.ArgumentParser) -> None:
    add.add_argument("name", metavar="NAME", help="name of the cache")
    add.add_argument("source", metavar="SOURCE", help="folder, archive, pypi:NAME==VERSION or npm:NAME@VERSION")
    _root(add)
    add.add_argument("--title", action=Once, default="", metavar="TEXT", help="title for context.list_caches")
    add.add_argument("--description", action=Once, default="", metavar="TEXT", help="what the cache is about")
    _configure_rules(add)


def _configure_search(search: argparse.ArgumentParser) -> None:
    search.add_argument("query", metavar="QUERY", help="a question, words or identifiers")
    _root(search)
    search.add_argument("--cache", action="append", metavar="NAME", help="search only this cache; may be repeated")
    search.add_argument(
        "--budget", action=Once, type=_search_budget, default=4000, metavar="N", help="most tokens (default: 4000)"
    )
    search.add_argument("--format", action=Once, choices=("text", "json"), default="text")


def _search_budget(text: str) -> int:
    return _number(text, range(MIN_BUDGET, MAX_BUDGET + 1), f"a budget is a number from {MIN_BUDGET} to {MAX_BUDGET}")


def _root(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--root", required=True, action=Once, metavar="DIR", type=Path, help="folder of the caches")


def _pattern(text: str) -> str:
    if find_spec("pathspec") is not None:  # without it the build says which extra to install
        from strictwire.packs.kit.ignore import is_pattern

        if not is_pattern(text):
            raise argparse.ArgumentTypeError(f"{for_terminal(text)!r} is not a pattern in the syntax of .gitignore")
    return text


def _size(text: str) -> int:
    permitted = range(1, MAX_DOCUMENT_BYTES + 1)
    return _number(text, permitted, f"a size is a number of bytes from 1 to {MAX_DOCUMENT_BYTES}")


def _number(text: str, permitted: range, refusal: str) -> int:
    if not re.fullmatch(r"[0-9]{1,12}", text) or int(text) not in permitted:
        raise argparse.ArgumentTypeError(refusal)
    return int(text)


def _verb(verbs: Any, name: str, summary: str) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = verbs.add_parser(
        name, help=summary, description=summary[0].upper() + summary[1:] + ".", allow_abbrev=False, usage_exit=USAGE
    )
    return made


def _cache(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cache", required=True, action=Once, metavar="DIR", type=Path, help="cache folder")


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and print its result."""
    if arguments.verb == "build":
        return _build(arguments)
    answer = {
        "add": lambda: _add(arguments),
        "search": lambda: run_search(
            arguments.root,
            Search(query=arguments.query, budget=arguments.budget),
            caches=arguments.cache or (),
            state=state_folder() / "packs" / "context" / "index",
            as_json=arguments.format == "json",
        ),
        "resolve": lambda: run_resolve(
            arguments.cache, query=arguments.query, budget=arguments.budget, pretty=arguments.format == "pretty"
        ),
        "inspect": lambda: run_inspect(arguments.cache),
        "verify": lambda: run_verify(arguments.cache),
        "list": lambda: run_list(Path(arguments.root)),
    }[arguments.verb]()
    return _write(answer)


def _rules(arguments: argparse.Namespace) -> tuple[frozenset[str], SourceRules]:
    """Return kinds and rules. Only `--strict` is v0's: everything else accepts any tree."""
    strict = arguments.strict
    rules = SourceRules(
        strict=strict,
        gitignore=not strict and not arguments.no_gitignore,
        include=tuple(arguments.include or ()),
        exclude=tuple(arguments.exclude or ()),
        max_bytes=arguments.max_bytes,
    )
    usual = V0_KINDS if strict else frozenset(filter(can_extract, KINDS))
    return frozenset(arguments.kind) if arguments.kind else usual, rules


def _add(arguments: argparse.Namespace) -> CommandResult:
    kinds, rules = _rules(arguments)
    addition = Addition(
        root=arguments.root,
        name=arguments.name,
        source=arguments.source,
        kinds=kinds,
        rules=rules,
        title=arguments.title,
        description=arguments.description,
    )
    return run_add(addition, now=_now, progress=_progress())


def _progress() -> Progress:
    return ProgressLine(sys.stderr, time.monotonic) if sys.stderr.isatty() else _stay_silent


def _build(arguments: argparse.Namespace) -> int:
    kinds, rules = _rules(arguments)
    order = Order(sources=arguments.sources, output=arguments.cache, force=arguments.force, kinds=kinds, rules=rules)
    progress = _progress()
    if arguments.watch and arguments.report:
        print("error: --report is written by a single build; remove --watch", file=sys.stderr)
        return USAGE
    if not arguments.watch:
        return _write(run_build(order, now=_now, progress=progress, report=arguments.report))
    try:
        follow(order, changes=TreeChanges(order.sources), now=_now, report=_report, progress=progress)
    except NotBuilt as refused:
        _report(refused)
        return EXIT_CODES[refused.failure.code]
    except KeyboardInterrupt:
        return 0
    return 0


def _report(outcome: Built | NotBuilt) -> None:
    if isinstance(outcome, Built):
        print(render_built(outcome).decode(), end="", file=sys.stderr, flush=True)
    else:
        subject = f": {for_terminal(outcome.subject)}" if outcome.subject else ""
        print(f"error: {outcome.reason}{subject}", file=sys.stderr, flush=True)


def _write(answer: CommandResult) -> int:
    sys.stderr.buffer.write(answer.stderr)
    sys.stdout.buffer.write(answer.stdout)
    sys.stdout.flush()
    return answer.exit_code


def _now() -> datetime:
    return datetime.now(UTC)


class ProgressLine:
    """Shows how many documents are done, how fast, and the time that is left."""

    def __init__(self, stream: IO[str], clock: Callable[[], float]) -> None:
        self._stream = stream
        self._clock = clock
        self._start: tuple[float, int] | None = None

    def __call__(self, done: int, total: int) -> None:
        """See build.Progress."""
        now = self._clock()
        began, before = self._start = self._start or (now, done)
        rate = (done - before) / (now - began) if now > began else 0.0
        speed = f", {rate:.0f}/s" if rate else ""
        left = f", {(total - done) / rate:.0f} s left" if rate and done < total else ""
        end = "\n" if done == total else ""
        print(f"\r\x1b[K{done}/{total} documents{speed}{left}", end=end, file=self._stream, flush=True)


def _stay_silent(_done: int, _total: int) -> None:
    """Used if stderr is not a terminal."""
