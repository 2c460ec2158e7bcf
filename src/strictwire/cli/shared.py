"""Options and output that several verbs share: sources, settings, reports, progress.

Other rooms are imported inside functions, so that `--help` starts fast.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn
from urllib.parse import urlsplit

from strictwire.cli.target import TargetRefused, is_module, load_server
from strictwire.fault.escape import for_terminal, for_terminal_lines

if TYPE_CHECKING:
    from strictwire.check.policy import LintPolicy
    from strictwire.check.subject import ToolSet
    from strictwire.sources.credentials import ClientCredentials
    from strictwire.sources.specifier import LiveOptions
    from strictwire.sources.verbs.result import Output, VerbResult

FORMATS: Final = ("text", "json", "sarif", "junit", "github", "codeclimate", "markdown")

SOURCES: Final = """sources:
  schemas              a folder of schema files (the default)
  tools.json           a saved tools/list response
  strictwire.lock      a lock file
  git:main             the same folder at a commit; git:v1.2:PATH also names the folder or file
  my_module:server     the tools of your own strictwire.Server
  --stdio 'CMD ...'    a server that strictwire starts with this command
  --http URL           a running server; see --header, --token-env and --oauth-client-id
  client:cursor        all servers in the configuration of a client (claude-desktop, claude-code, vscode, codex ...)
  client:mcp.json      the same from a file; client:mcp.json#NAME is one of its servers
  -                    a saved tools/list response from standard input
"""

USAGE: Final = 2
"""Exit code for wrong usage, which includes invalid settings."""


def add_source(parser: argparse.ArgumentParser) -> None:
    """Add the options that select sources of contracts."""
    parser.add_argument("source", nargs="*", metavar="SOURCE", help="sources of the contracts, see below (default: schemas)")
    add = parser.add_argument
    add("--stdio", action="append", default=[], metavar="COMMAND", help="start a server with this command; may be repeated")
    add("--http", action="append", default=[], metavar="URL", help="use the running server at this URL; may be repeated")
    add(
        "--timeout",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="for the start of a server and for each response (default: %(default)g)",
    )
    add_authorization(parser)


def add_authorization(parser: argparse.ArgumentParser) -> None:
    """Add the options for HTTP headers and tokens."""
    add = parser.add_argument_group("authorization for --http").add_argument
    add("--header", action="append", default=[], metavar="NAME:VALUE", type=_header, help="request header; may be repeated")
    add("--token-env", metavar="NAME", help="environment variable with a bearer token")
    add("--token-file", metavar="FILE", type=Path, help="file with a bearer token")
    add("--oauth-client-id", metavar="ID", help="get a token with the OAuth client credentials grant")
    add("--oauth-secret-env", metavar="NAME", help="environment variable with the client secret")
    add("--oauth-scope", metavar="SCOPE", default="", help="scope to ask for")
    add("--oauth-token-url", metavar="URL", default="", help="token endpoint, if the server does not publish it")


def _header(text: str) -> tuple[str, str]:
    name, separator, value = text.partition(":")
    if not separator or not name.strip():
        raise argparse.ArgumentTypeError("expected NAME:VALUE")
    return name.strip(), value.strip()


def live_of(verb: str, arguments: argparse.Namespace) -> LiveOptions:
    """How to reach running servers. Exits with 2 if a token is missing, or would be sent to several hosts."""
    from strictwire.sources.specifier import LiveOptions

    headers, credentials = headers_of(verb, arguments), credentials_of(verb, arguments)
    hosts = {urlsplit(each).netloc for each in (*arguments.http, *arguments.source) if "://" in each}
    if len(hosts) > 1 and (headers or credentials):
        stop(verb, "headers and tokens would be sent to several hosts; check one host at a time")
    return LiveOptions(headers=headers, timeout=arguments.timeout, credentials=credentials, environment=os.environ)


def headers_of(verb: str, arguments: argparse.Namespace) -> dict[str, str]:
    """The HTTP headers, with a given token. Exits with 2 if the token is missing."""
    headers = dict(arguments.header)
    token = _token(verb, arguments)
    return headers | {"Authorization": f"Bearer {token}"} if token else headers


def credentials_of(verb: str, arguments: argparse.Namespace) -> ClientCredentials | None:
    """The OAuth client, if one is given. Exits with 2 if its secret is missing."""
    from strictwire.sources.credentials import ClientCredentials

    if not arguments.oauth_client_id:
        return None
    return ClientCredentials(
        client_id=arguments.oauth_client_id,
        secret=_variable(verb, "--oauth-secret-env", arguments.oauth_secret_env or ""),
        scope=arguments.oauth_scope,
        token_url=arguments.oauth_token_url,
    )


def _token(verb: str, arguments: argparse.Namespace) -> str:
    if arguments.token_file is not None:
        try:
            return str(arguments.token_file.read_text("utf-8")).strip()
        except (OSError, UnicodeDecodeError):
            stop(verb, f"--token-file {arguments.token_file}: cannot read the file")
    return _variable(verb, "--token-env", arguments.token_env) if arguments.token_env else ""


def _variable(verb: str, option: str, name: str) -> str:
    value = os.environ.get(name, "")
    return value or stop(verb, f"{option}: the environment variable {name or '(no name given)'} is not set")


def stop(verb: str, reason: str, exit_code: int = USAGE) -> NoReturn:
    """Print why the command cannot run, and exit."""
    print(f"strictwire {verb}: {for_terminal(reason)}", file=sys.stderr)
    sys.exit(exit_code)


def add_report(parser: argparse.ArgumentParser) -> None:
    """Add the options of a report."""
    add_format(parser)
    add_config(parser)


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add the options for report formats."""
    parser.add_argument("--format", choices=FORMATS, default="text", help="report format (default: %(default)s)")
    parser.add_argument(
        "--report",
        action="append",
        default=[],
        type=_report_file,
        metavar="FORMAT=FILE",
        help="also write the report in this format to a file; may be repeated",
    )


def _report_file(text: str) -> tuple[str, str]:
    name, _, path = text.partition("=")
    if name not in FORMATS or not path:
        raise argparse.ArgumentTypeError(f"expected FORMAT=FILE with one of {', '.join(FORMATS)}")
    return name, path


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Add the options that select rules and known findings."""
    parser.add_argument("--statistics", action="store_true", help="count the findings of each rule instead of listing them")
    parser.add_argument("--select", metavar="RULES", type=_names, help="run only these rules, separated by commas")
    parser.add_argument("--ignore", metavar="RULES", type=_names, help="do not run these rules, separated by commas")
    parser.add_argument("--baseline", metavar="FILE", help="known findings, which do not fail the check")
    parser.add_argument("--write-baseline", metavar="FILE", help="write all findings to this file and succeed")


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def output_of(arguments: argparse.Namespace) -> Output:
    """How to report."""
    from strictwire.sources.verbs.result import Output

    output_format = "statistics" if arguments.statistics else format_of(arguments)
    return Output(
        output_format=output_format,
        baseline=arguments.baseline,
        write_baseline=arguments.write_baseline,
        files=dict(arguments.report),
    )


def policy_table(arguments: argparse.Namespace, section: str, *options: str) -> Mapping[str, Any]:
    """A section of the settings, with the command line's `--select`, `--ignore` and `options` in place of its keys."""
    table = dict(read_table(arguments, section))
    given = {name: getattr(arguments, name) for name in ("select", "ignore", *options)}
    return table | {name: value for name, value in given.items() if value}


def with_file(policy: LintPolicy, arguments: argparse.Namespace) -> LintPolicy:
    """The policy with the name of the settings file it is from."""
    return replace(policy, file=str(arguments.config)) if arguments.config else policy


def add_config(parser: argparse.ArgumentParser) -> None:
    """Add the option for the settings file."""
    parser.add_argument("--config", type=Path, help="settings file (default: strictwire.toml, if there is one)")


def source_of(verb: str, arguments: argparse.Namespace) -> list[str | ToolSet]:
    """The sources that the user names, which `sources.specifier` reads. Exits if a module cannot be imported."""
    # `git:main` and `client:cursor` look like modules.
    named = [
        each if each.startswith(("git:", "client:")) or not is_module(each) else _tools_of_module(verb, each)
        for each in arguments.source
    ]
    found = [*named, *(f"stdio:{each}" for each in arguments.stdio), *arguments.http]
    return found or ["schemas"]


def _tools_of_module(verb: str, path: str) -> ToolSet:
    from strictwire.sources.entries import tools_of

    try:
        server = load_server(path)
    except TargetRefused as exc:
        stop(verb, str(exc), exc.exit_code)
    return tools_of(server.catalog.offers.registry.tools.values(), path)


def format_of(arguments: argparse.Namespace) -> str:
    """The report format: `colour` instead of `text` on a terminal."""
    return "colour" if arguments.format == "text" and sys.stdout.isatty() else str(arguments.format)


def print_result(verb: str, result: VerbResult) -> int:
    """Print the result of a verb and return its exit code."""
    if result.error:
        print(f"strictwire {verb}: {for_terminal_lines(result.error)}", file=sys.stderr)
    if result.text:
        print(result.text, end="" if result.text.endswith("\n") else "\n")
    return result.exit_code


def read_table(arguments: argparse.Namespace, name: str) -> Mapping[str, Any]:
    """One table of the settings. Raises SettingsRefused."""
    from strictwire.settings.read import read_settings

    table: Mapping[str, Any] = getattr(read_settings(file=arguments.config), name)
    return table


def run_with_settings(verb: str, run: Callable[[], VerbResult]) -> int:
    """Run a verb that reads settings, and print its result. Invalid settings are wrong usage."""
    from strictwire.check.policy import PolicyRefused
    from strictwire.settings.read import SettingsRefused

    try:
        return print_result(verb, run())
    except (SettingsRefused, PolicyRefused) as exc:
        print(f"strictwire {verb}: {exc}", file=sys.stderr)
        return USAGE
