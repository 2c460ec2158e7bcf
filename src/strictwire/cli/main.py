"""`strictwire VERB`: finds the verb, imports nothing else.

A verb is a module with `SUMMARY`, `configure(parser)` and `run(arguments) -> int`. Exit codes: 0 fine, 100 findings, 1 could
not run, 2 usage.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import sys
from collections.abc import Sequence
from typing import Any, Final, NoReturn

import strictwire

VERBS: Final = {
    "serve": "serve tools over stdio or HTTP",
    "lint": "judge the contracts of tools",
    "breaking": "tell what a change of contracts breaks, and for whom",
    "pin": "write down what every tool promises, and check it",
    "freeze": "write schema files from tools made by type hints",
    "bundle": "make every schema self-contained",
    "docs": "write a reference of tools",
    "guard": "put the contract in front of any MCP server",
    "install": "run every server of a client behind the guard",
    "probe": "judge any MCP server with raw bytes",
    "audit": "verify, prove, read and prune the audit trail",
    "context": "build and ask caches of documents",
    "plan": "make, check and approve plans of a governed workspace",
    "workspace": "tell what state a governed workspace is in",
    "unity": "check, compare and search Unity projects without the editor",
    "explain": "say what a failure code means and what to do",
}
"""Verb to what it does, in the order of the help text. Each is `strictwire.cli.<verb>`."""

_EPILOG: Final = "Each verb has its own help: strictwire VERB --help"


class Parser(argparse.ArgumentParser):
    """A parser whose exit code for wrong usage can be chosen: the `context` verbs have their own by contract."""

    def __init__(self, *args: Any, usage_exit: int = 2, **options: Any) -> None:
        super().__init__(*args, **options)
        self._usage_exit = usage_exit

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, then how it is used: what reads the error finds it on the first line."""
        self.exit(self._usage_exit, f"error: {message}\n{self.format_usage()}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb."""
    given = list(sys.argv[1:] if argv is None else argv)
    if not given or given[0] in ("-h", "--help"):
        print(_help())
        return 0 if given else 2
    if given[0] == "--version":
        print(f"strictwire {strictwire.__version__}")
        return 0
    verb = given[0]
    if verb not in VERBS:
        print(_unknown(verb), file=sys.stderr)
        return 2
    module = importlib.import_module(f"strictwire.cli.{verb}")
    parser = Parser(
        prog=f"strictwire {verb}",
        description=VERBS[verb][0].upper() + VERBS[verb][1:] + ".",
        epilog=module.EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        usage_exit=getattr(module, "USAGE_EXIT", 2),
    )
    module.configure(parser)
    return int(module.run(parser.parse_args(given[1:])))


def _help() -> str:
    width = max(map(len, VERBS))
    lines = [f"  {verb:<{width}}  {summary}" for verb, summary in VERBS.items()]
    return "\n".join(["usage: strictwire VERB [OPTIONS]", "", "The contract layer for MCP.", "", *lines, "", _EPILOG])


def _unknown(verb: str) -> str:
    near = difflib.get_close_matches(verb, VERBS, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"verbs: {', '.join(VERBS)}"
    return f"strictwire: unknown verb {verb!r}; {hint}"


if __name__ == "__main__":
    sys.exit(main())
