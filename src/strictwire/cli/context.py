"""`strictwire context`: builds and queries document caches. Its exit codes are those of Context Resolve v0."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import strictwire
from strictwire.packs.context.build import V0_KINDS, Built, Order
from strictwire.packs.context.extract import KINDS
from strictwire.packs.context.follow import TreeChanges, follow
from strictwire.packs.context.ingest import NotBuilt
from strictwire.packs.context.verbs import (
    EXIT_CODES,
    USAGE,
    CommandResult,
    render_built,
    run_build,
    run_inspect,
    run_list,
    run_resolve,
    run_verify,
)

USAGE_EXIT: Final = USAGE
"""Exit code for wrong usage: Context Resolve v0 requires 1."""

EXAMPLES: Final = """examples:
  strictwire context build --sources docs --cache caches/docs
  strictwire context build --sources src --cache caches/src --kind md --kind code --watch
  strictwire context resolve --cache caches/docs --query 'audit trail' --budget 4000
  strictwire context verify --cache caches/docs

exit codes: 0 ok, 1 usage, 2 invalid query, 3 invalid budget, 4 cache missing, 5 cache invalid, 6 I/O, 7 internal
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
    build = _verb(verbs, "build", "build a cache from a folder of documents")
    build.add_argument("--sources", required=True, action=Once, metavar="DIR", type=Path, help="folder of documents")
    _cache(build)
    build.add_argument("--force", action="store_true", help="replace an existing cache atomically")
    build.add_argument("--watch", action="store_true", help="rebuild whenever a document changes")
    build.add_argument(
        "--kind", action="append", choices=sorted(KINDS), help="kind of documents; may be repeated (default: Markdown)"
    )
    resolve = _verb(verbs, "resolve", "select documents for a query within a token budget")
    _cache(resolve)
    resolve.add_argument("--query", required=True, action=Once, metavar="TEXT")
    resolve.add_argument("--budget", required=True, action=Once, metavar="N")
    resolve.add_argument("--format", action=Once, choices=("json", "pretty"), default="json")
    _cache(_verb(verbs, "inspect", "show the version and size of a cache"))
    _cache(_verb(verbs, "verify", "check every rule of a cache and report violations"))
    _verb(verbs, "list", "list the caches in a folder").add_argument("--root", required=True, action=Once, metavar="DIR")


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
        "resolve": lambda: run_resolve(
            arguments.cache, query=arguments.query, budget=arguments.budget, pretty=arguments.format == "pretty"
        ),
        "inspect": lambda: run_inspect(arguments.cache),
        "verify": lambda: run_verify(arguments.cache),
        "list": lambda: run_list(Path(arguments.root)),
    }[arguments.verb]()
    return _write(answer)


def _build(arguments: argparse.Namespace) -> int:
    kinds = frozenset(arguments.kind) if arguments.kind else V0_KINDS
    order = Order(sources=arguments.sources, output=arguments.cache, force=arguments.force, kinds=kinds)
    progress = _show_progress if sys.stderr.isatty() else _stay_silent
    if not arguments.watch:
        return _write(run_build(order, now=_now, progress=progress))
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
        subject = f": {outcome.subject}" if outcome.subject else ""
        print(f"error: {outcome.reason}{subject}", file=sys.stderr, flush=True)


def _write(answer: CommandResult) -> int:
    sys.stderr.buffer.write(answer.stderr)
    sys.stdout.buffer.write(answer.stdout)
    sys.stdout.flush()
    return answer.exit_code


def _now() -> datetime:
    return datetime.now(UTC)


def _show_progress(done: int, total: int) -> None:
    print(f"\r\x1b[K{done}/{total} documents", end="\n" if done == total else "", file=sys.stderr, flush=True)


def _stay_silent(_done: int, _total: int) -> None:
    """Used if stderr is not a terminal."""
