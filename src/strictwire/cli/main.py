"""`strictwire COMMAND`: imports the module of one command (a "verb") and runs it.

A verb is a module with `EXAMPLES`, `configure(parser)` and `run(arguments) -> int`. Other rooms are imported only when a
verb needs them, so that `--help` starts fast. Exit codes: 0 success, 100 findings, 1 could not run, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any, Final, NoReturn

import strictwire

VERBS: Final = {
    "serve": "serve tools over stdio or HTTP",
    "dev": "serve your own server and reload it when a file changes",
    "call": "call a tool of any server",
    "inspect": "show what any server offers",
    "lint": "check the contracts of tools",
    "breaking": "report contract changes that break callers",
    "pin": "write a lock file of all contracts, or check tools against it",
    "ci": "run lint, breaking and pin --check with one exit code",
    "freeze": "write schema files from type hints or from another source",
    "bundle": "make every schema file self-contained",
    "docs": "write a reference page for tools",
    "guard": "enforce contracts in front of any MCP server",
    "install": "add your server to an MCP client, or put all its servers behind the guard",
    "probe": "test any MCP server with malformed and edge-case messages",
    "audit": "verify, prove, read and prune the audit trail",
    "context": "build and query document caches",
    "code": "find definitions, references and symbols of a project",
    "plan": "create, check and approve plans of a governed workspace",
    "workspace": "show the state of a governed workspace, or check an attestation",
    "unity": "check, compare and search Unity projects without the editor",
    "explain": "explain a failure code and what to do about it",
}
"""Each verb and its one-line help, in the order of the help text. The module of a verb is `strictwire.cli.<verb>`."""

_EPILOG: Final = "Run strictwire COMMAND --help for the options of a command."


class Parser(argparse.ArgumentParser):
    """A parser with a configurable exit code for wrong usage: Context Resolve v0 requires 1 for the `context` verbs."""

    def __init__(self, *args: Any, usage_exit: int = 2, **options: Any) -> None:
        super().__init__(*args, **options)
        self._usage_exit = usage_exit

    def error(self, message: str) -> NoReturn:
        """Print the error first and the usage after it, so that the first line on stderr is the reason."""
        self.exit(self._usage_exit, f"error: {message}\n{self.format_usage()}")


INTERRUPTED: Final = 130
"""The exit code after Ctrl-C: 128 and the number of the signal, as shells have it."""

OUTPUT_CLOSED: Final = 141
"""The exit code if the reader of the output is gone: 128 and the number of SIGPIPE."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code."""
    try:
        try:
            return _run(list(sys.argv[1:] if argv is None else argv))
        finally:
            sys.stdout.flush()  # here, where a closed pipe is handled, and not at the exit of the interpreter
    except KeyboardInterrupt:
        print("strictwire: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output is gone, such as `head`. Python would write the rest at exit and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OUTPUT_CLOSED


def _run(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_help())
        return 0 if arguments else 2
    if arguments[0] == "--version":
        print(f"strictwire {strictwire.__version__}")
        return 0
    verb = arguments[0]
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
    return int(module.run(parser.parse_args(arguments[1:])))


def _help() -> str:
    width = max(map(len, VERBS))
    lines = [f"  {verb:<{width}}  {summary}" for verb, summary in VERBS.items()]
    return "\n".join(["usage: strictwire COMMAND [OPTIONS]", "", "The contract layer for MCP.", "", *lines, "", _EPILOG])


def _unknown(verb: str) -> str:
    near = difflib.get_close_matches(verb, VERBS, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"commands: {', '.join(VERBS)}"
    return f"strictwire: unknown command {verb!r}; {hint}"


if __name__ == "__main__":
    sys.exit(main())
