"""`strictwire guard`: the contract in front of any MCP server, or of several at once."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from strictwire.gateway.links.connector import UpstreamTarget
from strictwire.gateway.many.naming import NameClash
from strictwire.gateway.many.survey import Surveyed, clashes_of
from strictwire.gateway.options import Mode, RelayOptions
from strictwire.gateway.policy.rules import Filter
from strictwire.server.guard import Guarding, run_guard, survey_upstreams
from strictwire.server.guarded import Guarded, guarded_of, policy_rules_of, token_headers
from strictwire.server.run import StartRefused, parse_address, report_start_failure
from strictwire.settings.model import Settings
from strictwire.settings.read import SettingsRefused, read_settings

EXAMPLES: Final = """examples:
  strictwire guard -- npx -y some-mcp-server                on standard input and output
  strictwire guard --http 127.0.0.1:8808 -- some-server     the same server over HTTP
  strictwire guard --upstream-http https://host/mcp         a remote server
  strictwire guard --deny 'delete_*' -- some-server         without some of its tools
  strictwire guard --mode warn -- some-server               relay what breaks the contract, and say so
  strictwire guard                                          every server of [guard.upstreams] in strictwire.toml
  strictwire guard --check                                  start each of them once and say what it offers
  strictwire guard --dry-run                                tell what the policy would deny, and deny nothing
"""

OPTIONS_OF_ONE: Final = ("timeout", "allow", "deny", "no_mask", "no_bridge", "lock", "trust_on_first_use", "name")
"""Options about a server that the command line names; several have tables in the settings instead."""

NO_SERVER: Final = (
    "name a server: a command after --, --upstream-http URL, or a [guard.upstreams.NAME] table in strictwire.toml"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("command", nargs="*", metavar="COMMAND", help="the server to start, after --")
    parser.add_argument("--upstream-http", metavar="URL", help="a server at a URL instead of a command")
    parser.add_argument("--upstream-token-env", metavar="NAME", help="variable that holds the bearer token for the URL")
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--stdio", action="store_true", help="serve standard input and output (default)")
    way.add_argument("--http", metavar="HOST:PORT", help="serve HTTP, such as 127.0.0.1:8808")
    way.add_argument("--check", action="store_true", help="serve nothing: start each server once and say what it offers")
    parser.add_argument("--name", help="what the server is called in logs (default: upstream)")
    parser.add_argument("--mode", choices=[mode.value for mode in Mode], help="what a broken contract leads to")
    parser.add_argument("--dry-run", action="store_true", help="record and log what the policy would deny; deny nothing")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="silence before a call is given up (default: 60)")
    parser.add_argument("--allow", action="append", metavar="PATTERN", help="only tools like this; may be repeated")
    parser.add_argument("--deny", action="append", metavar="PATTERN", help="no tools like this; may be repeated")
    parser.add_argument("--no-mask", action="store_true", help="show error texts of the server as they are")
    parser.add_argument("--no-bridge", action="store_true", help="refuse clients of an era that the server does not speak")
    parser.add_argument(
        "--lock", type=Path, help="lock file of `strictwire pin`: a tool that differs is neither shown nor called"
    )
    parser.add_argument("--trust-on-first-use", action="store_true", help="write the lock file if it is not there yet")
    parser.add_argument("--config", type=Path, help="settings file (default: strictwire.toml, if there is one)")


def run(arguments: argparse.Namespace) -> int:
    """Guard until stopped."""
    try:
        settings = read_settings(file=arguments.config)
        guarding = _guarding(arguments, settings)
    except SettingsRefused as exc:
        report_start_failure("BOOTSTRAP_FAILURE", str(exc))
        return 1
    except ValueError as exc:
        print(f"strictwire guard: {exc}", file=sys.stderr)
        return 2
    return _check(guarding) if arguments.check else run_guard(guarding, settings)


def _guarding(arguments: argparse.Namespace, settings: Settings) -> Guarding:
    return Guarding(
        upstreams=_upstreams(arguments, settings),
        policy=policy_rules_of(settings.guard, dry_run=arguments.dry_run),
        http=None if arguments.http is None else parse_address(arguments.http),
        announce=_announce,
    )


def _upstreams(arguments: argparse.Namespace, settings: Settings) -> tuple[Guarded, ...]:
    """The server of the command line, or those of the settings. Raises ValueError."""
    mode = None if arguments.mode is None else Mode(arguments.mode)
    if arguments.command or arguments.upstream_http:
        return (_named(arguments, mode or Mode(settings.guard.mode)),)
    if not settings.guard.upstreams:
        raise ValueError(NO_SERVER)
    given = [name for name in OPTIONS_OF_ONE if getattr(arguments, name)]
    if given:
        option = given[0].replace("_", "-")
        raise ValueError(f"--{option} is for a server named here; say it in [guard.upstreams.NAME] of the settings instead")
    return guarded_of(settings.guard, os.environ, mode)


def _named(arguments: argparse.Namespace, mode: Mode) -> Guarded:
    if arguments.command and arguments.upstream_http:
        raise ValueError("name one server: a command after --, or --upstream-http URL")
    if arguments.trust_on_first_use and arguments.lock is None:
        raise ValueError("--trust-on-first-use needs --lock FILE to say where the pins are kept")
    target = UpstreamTarget(
        name=arguments.name or "upstream",
        command=tuple(arguments.command),
        url=arguments.upstream_http,
        headers=token_headers(arguments.upstream_token_env, os.environ),
    )
    return Guarded(
        target=target,
        options=_options(arguments, mode),
        tool_filter=Filter(allow=tuple(arguments.allow or ()), deny=tuple(arguments.deny or ())),
        lock=arguments.lock,
        trust_on_first_use=arguments.trust_on_first_use,
    )


def _options(arguments: argparse.Namespace, mode: Mode) -> RelayOptions:
    seconds = RelayOptions().idle_seconds if arguments.timeout is None else float(arguments.timeout)
    if not 0 < seconds <= 86_400:
        raise ValueError("--timeout: expected seconds, more than 0 and at most a day")
    return RelayOptions(
        mode=mode,
        idle_seconds=seconds,
        total_seconds=max(RelayOptions().total_seconds, seconds),
        mask=not arguments.no_mask,
        bridge=not arguments.no_bridge,
    )


def _announce(url: str) -> None:
    print(f"strictwire guards on {url}", file=sys.stderr)


def _check(guarding: Guarding) -> int:
    """0: everything starts and nothing clashes; 100: not everything does."""
    try:
        seen = asyncio.run(survey_upstreams(guarding))
    except StartRefused as exc:
        report_start_failure(exc.code, str(exc))
        return 1
    clashes = clashes_of(seen)
    print("\n".join(_lines(seen, clashes)))
    return 100 if clashes or any(each.problem for each in seen) else 0


def _lines(seen: Sequence[Surveyed], clashes: Sequence[NameClash]) -> list[str]:
    width = max(len(each.upstream) for each in seen)
    return [*(f"{each.upstream:<{width}}  {_state(each)}" for each in seen), *(f"clash: {clash}" for clash in clashes)]


def _state(seen: Surveyed) -> str:
    if seen.problem is not None:
        return f"down: {seen.problem}"
    counts = [f"{len(names)} {method.partition('/')[0]}" for method, names in seen.shown.items()]
    held = [f"{len(seen.quarantined)} tools in quarantine: {', '.join(seen.quarantined)}"] if seen.quarantined else []
    return ", ".join([f"up: {seen.server or 'a server without a name'} ({seen.era})", *counts, *held])
