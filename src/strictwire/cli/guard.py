"""`strictwire guard`: enforces contracts in front of one or several MCP servers."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from strictwire.fault.escape import for_terminal
from strictwire.gateway.links.connector import UpstreamTarget
from strictwire.gateway.many.naming import Intrusion, NameClash
from strictwire.gateway.many.survey import Surveyed, clashes_of
from strictwire.gateway.options import Mode, RelayOptions
from strictwire.gateway.policy.rules import Filter
from strictwire.server.guard import Guarding, dead_references, run_guard, survey_upstreams
from strictwire.server.guarded import Guarded, guarded_of, policy_rules_of, token_headers
from strictwire.server.run import StartRefused, parse_address, report_start_failure
from strictwire.settings.anchored import anchored
from strictwire.settings.guard_model import GuardSettings
from strictwire.settings.model import Settings
from strictwire.settings.places import config_file
from strictwire.settings.read import FILE, SettingsRefused, read_settings

EXAMPLES: Final = f"""examples:
  strictwire guard -- npx -y some-mcp-server                guard a server and serve it over stdio
  strictwire guard --http 127.0.0.1:8808 -- some-server     guard a server and serve it over HTTP
  strictwire guard --upstream-http https://host/mcp         guard a remote server
  strictwire guard --deny 'delete_*' -- some-server         hide and refuse some of its tools
  strictwire guard --mode warn -- some-server               log contract violations instead of blocking them
  strictwire guard --config strictwire.toml                 guard all servers of its [guard.upstreams] tables
  strictwire guard --check                                  start each server once and show what it offers
  strictwire guard --dry-run                                log what the policy would deny, and deny nothing

settings:
  Only the file of --config, or the user's own: {config_file()}
  A strictwire.toml in the working folder is not read, because it may be part of a cloned repository.
"""

OPTIONS_OF_ONE: Final = ("timeout", "allow", "deny", "no_mask", "no_bridge", "lock", "trust_on_first_use", "name")
"""Options for a server given on the command line. Servers of the settings file have these in their tables."""

NO_SERVER: Final = (
    "no server given: use a command after --, --upstream-http URL, or --config FILE with a [guard.upstreams.NAME] table"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("command", nargs="*", metavar="COMMAND", help="command that starts the server, after --")
    parser.add_argument("--upstream-http", metavar="URL", help="URL of a running server, instead of a command")
    parser.add_argument(
        "--upstream-token-env", metavar="NAME", help="environment variable with the bearer token for the URL"
    )
    transport = parser.add_mutually_exclusive_group()
    transport.add_argument("--stdio", action="store_true", help="serve over standard input and output (default)")
    transport.add_argument("--http", metavar="HOST:PORT", help="serve over HTTP, for example on 127.0.0.1:8808")
    transport.add_argument("--check", action="store_true", help="start each server once, show what it offers, and exit")
    parser.add_argument("--name", help="name of the server in logs (default: upstream)")
    parser.add_argument("--mode", choices=[mode.value for mode in Mode], help="what to do on a contract violation")
    parser.add_argument("--dry-run", action="store_true", help="record and log what the policy would deny; deny nothing")
    parser.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="cancel a call after this long silence (default: 60)"
    )
    parser.add_argument("--allow", action="append", metavar="PATTERN", help="only tools that match; may be repeated")
    parser.add_argument("--deny", action="append", metavar="PATTERN", help="no tools that match; may be repeated")
    parser.add_argument("--no-mask", action="store_true", help="pass on error texts of the server unchanged")
    parser.add_argument("--no-bridge", action="store_true", help="refuse clients whose MCP era the server does not support")
    parser.add_argument(
        "--lock", type=Path, help="lock file of `strictwire pin`: tools that differ from it are hidden and refused"
    )
    parser.add_argument("--trust-on-first-use", action="store_true", help="write the lock file if it does not exist")
    parser.add_argument("--config", type=Path, help="settings file (default: the user's own, see below)")


def run(arguments: argparse.Namespace) -> int:
    """Run the guard until it is stopped."""
    try:
        settings = _read_settings(arguments.config)
        guarding = _guarding(arguments, settings)
    except SettingsRefused as exc:
        report_start_failure("BOOTSTRAP_FAILURE", str(exc))
        return 1
    except ValueError as exc:
        print(f"strictwire guard: {exc}", file=sys.stderr)
        return 2
    return _check(guarding) if arguments.check else run_guard(guarding, settings)


def _read_settings(file: Path | None) -> Settings:
    """The settings of the given file, or of the user. Raises SettingsRefused."""
    own = config_file()
    used = file or (own if own.is_file() else None)
    here = Path(FILE)
    if file is None and here.is_file() and not (used is not None and here.samefile(used)):
        print(f"strictwire guard: {FILE} in the working folder is not read; use --config {FILE}", file=sys.stderr)
    settings = read_settings(file=used, default=None)
    return settings if used is None else anchored(settings, used.absolute().parent)


def _guarding(arguments: argparse.Namespace, settings: Settings) -> Guarding:
    return Guarding(
        upstreams=_upstreams(arguments, settings),
        policy=policy_rules_of(settings.guard, dry_run=arguments.dry_run),
        http=None if arguments.http is None else parse_address(arguments.http),
        announce=_announce,
    )


def _upstreams(arguments: argparse.Namespace, settings: Settings) -> tuple[Guarded, ...]:
    """The server of the command line, or the servers of the settings. Raises ValueError."""
    mode = None if arguments.mode is None else Mode(arguments.mode)
    if arguments.command or arguments.upstream_http:
        return (_named(arguments, settings.guard, mode or Mode(settings.guard.mode)),)
    if not settings.guard.upstreams:
        raise ValueError(NO_SERVER)
    given = [name for name in OPTIONS_OF_ONE if getattr(arguments, name)]
    if given:
        option = given[0].replace("_", "-")
        raise ValueError(f"--{option} needs a server on the command line; for others, set it in [guard.upstreams.NAME]")
    return guarded_of(settings.guard, os.environ, mode)


def _named(arguments: argparse.Namespace, guard: GuardSettings, mode: Mode) -> Guarded:
    if arguments.command and arguments.upstream_http:
        raise ValueError("two servers given: use a command after --, or --upstream-http URL, not both")
    if arguments.trust_on_first_use and arguments.lock is None:
        raise ValueError("--trust-on-first-use needs --lock FILE, the file for the pins")
    target = UpstreamTarget(
        name=arguments.name or "upstream",
        command=tuple(arguments.command),
        url=arguments.upstream_http,
        headers=token_headers(arguments.upstream_token_env, os.environ),
    )
    return Guarded(
        target=target,
        options=_options(arguments, guard, mode),
        tool_filter=Filter(allow=tuple(arguments.allow or ()), deny=tuple(arguments.deny or ())),
        lock=arguments.lock,
        trust_on_first_use=arguments.trust_on_first_use,
    )


def _options(arguments: argparse.Namespace, guard: GuardSettings, mode: Mode) -> RelayOptions:
    seconds = RelayOptions().idle_seconds if arguments.timeout is None else float(arguments.timeout)
    if not 0 < seconds <= 86_400:
        raise ValueError("--timeout: expected a number of seconds greater than 0 and at most 86400 (one day)")
    return RelayOptions(
        mode=mode,
        idle_seconds=seconds,
        total_seconds=max(RelayOptions().total_seconds, seconds),
        mask=not arguments.no_mask,
        bridge=not arguments.no_bridge,
        session_idle_seconds=guard.session_idle_seconds,
        sessions_per_principal=guard.sessions_per_principal,
    )


def _announce(url: str) -> None:
    print(f"strictwire guards on {url}", file=sys.stderr)


def _check(guarding: Guarding) -> int:
    """Show what each server offers. Returns 0 if all start, no names clash and every rule refers to something, else 100."""
    try:
        seen = asyncio.run(survey_upstreams(guarding))
    except StartRefused as exc:
        report_start_failure(exc.code, str(exc))
        return 1
    clashes, dead = clashes_of(seen), dead_references(guarding, seen)
    print("\n".join([*_lines(seen, clashes), *(f"rule: {each}" for each in dead)]))
    return 100 if clashes or dead or any(each.problem for each in seen) else 0


def _lines(seen: Sequence[Surveyed], clashes: Sequence[NameClash | Intrusion]) -> list[str]:
    width = max(len(each.upstream) for each in seen)
    lines = [*(f"{each.upstream:<{width}}  {_state(each)}" for each in seen), *(f"clash: {clash}" for clash in clashes)]
    return [for_terminal(line) for line in lines]


def _state(seen: Surveyed) -> str:
    if seen.problem is not None:
        return f"down: {seen.problem}"
    counts = [f"{len(names)} {method.partition('/')[0]}" for method, names in seen.shown.items()]
    held = [f"{len(seen.quarantined)} tools in quarantine: {', '.join(seen.quarantined)}"] if seen.quarantined else []
    return ", ".join([f"up: {seen.server or 'unnamed server'} ({seen.era})", *counts, *held])
