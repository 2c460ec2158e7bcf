"""Runs a server over stdio or HTTP until it is told to stop."""

from __future__ import annotations

import argparse
import asyncio
import gc
import ipaddress
import logging
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from strictwire.canon.json import render
from strictwire.fault.dialects.system_v1 import GovernedError
from strictwire.fault.failure import Facts
from strictwire.packs.pack import PackRefused
from strictwire.pipeline.clock import Clock
from strictwire.server.author import Server
from strictwire.server.compose import ENDPOINTS, PATHS, Runtime, open_runtime, view_of
from strictwire.server.packs import open_packs
from strictwire.settings.model import Settings
from strictwire.settings.places import state_folder
from strictwire.settings.read import SettingsRefused, read_settings
from strictwire.stores.trail.fault import LogFault
from strictwire.stores.trail.recovery import DAMAGED
from strictwire.transport.http import HttpServer, Site
from strictwire.transport.stdio import serve_stdio

COLLECT_AFTER: Final = 20_000
"""Containers made between two collections: a few megabytes at most."""

log = logging.getLogger("strictwire")


class StartRefused(Exception):
    """The server cannot start: a sentence that says what to do, and the code that says which kind of failure it is."""

    def __init__(self, text: str, code: str = "BOOTSTRAP_FAILURE") -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """How to serve."""

    stdio: bool = False
    http: tuple[str, int] | None = None
    """Host and port, if they are not to be those of the settings."""
    profile: str = "mcp"
    """The profile of stdio; over HTTP every profile has its path."""
    deterministic: bool = False
    exact_v0: bool = False
    """Speak the frozen surface of Context Resolve v0 on stdio, and nothing else."""
    announce: Callable[[str], None] = lambda _url: None
    """Told the URL once the server listens."""


def parse_address(text: str) -> tuple[str, int]:
    """`HOST:PORT`, or `PORT` alone. Raises ValueError."""
    host, _, port = text.rpartition(":")
    if not re.fullmatch(r"[0-9]{1,5}", port) or int(port) > 65535:
        raise ValueError(f"{text!r}: expected HOST:PORT, such as 127.0.0.1:8808")
    return host.strip("[]") or "127.0.0.1", int(port)


async def serve(server: Server, settings: Settings, serving: Serving, packs: Sequence[str] = ()) -> None:
    """Serve until the end of input, SIGTERM or SIGINT. Raises StartRefused."""
    host, port = serving.http or (settings.server.host, settings.server.port)
    if not serving.stdio:
        check_exposure(host, settings)
    try:
        async with (
            open_packs(server, packs, settings.packs, state_folder() / "packs", trail=view_of(settings.audit)),
            open_runtime(server, settings, deterministic=serving.deterministic) as runtime,
        ):
            if settings.server.lock is not None:
                _check_lock(server, settings.server.lock)
            _rest_collector()
            if serving.stdio:
                await _serve_stdio(runtime, serving)
            else:
                await _serve_http(runtime, serving, host, port)
    except PackRefused as exc:
        raise StartRefused(str(exc)) from exc
    except LogFault as exc:
        if exc.reason == DAMAGED:
            text = f"the audit trail does not hold ({exc}); see strictwire audit verify, and move it away to begin a new one"
            raise StartRefused(text, "SELF_AUDIT_FAILURE") from exc
        raise StartRefused(
            f"the audit trail cannot be kept ({exc}); set audit.folder to a writable folder, or audit.mode to off"
        ) from exc


def _rest_collector() -> None:
    """What a server is made of stays until it ends, and a decoded message has no cycles: both need no looking through.

    By default every 700 containers start a collection, which is one in every second message of 10 KB.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER, 10, 10)


def _check_lock(server: Server, lock: str) -> None:
    # Imported here because a server without a lock file need not wait for the reading of lock files to load.
    from strictwire.server.selfcheck import SelfCheckFailed, check_lock

    try:
        check_lock(server.catalog.offers.registry, lock)
    except SelfCheckFailed as exc:
        raise StartRefused(str(exc), "SELF_AUDIT_FAILURE") from exc


def check_exposure(host: str, settings: Settings) -> None:
    """Raises StartRefused: an address that others can reach, without a token to ask them for."""
    with suppress(ValueError):
        if ipaddress.ip_address(host).is_loopback:
            return
    if host != "localhost" and not settings.server.tokens:
        raise StartRefused(
            f"{host} can be reached by others: add a [[server.tokens]] table to strictwire.toml, or listen on 127.0.0.1"
        )


async def _serve_stdio(runtime: Runtime, serving: Serving) -> None:
    log.info("serving %s on stdio (%s)", runtime.server.identity.name, serving.profile)
    if serving.exact_v0:
        await _serve_exact(runtime)
        return
    await serve_stdio(
        runtime.endpoint(serving.profile), caller=runtime.caller, max_line=runtime.settings.server.max_request_bytes
    )


async def _serve_exact(runtime: Runtime) -> None:
    # Imported here because no other server needs the context pack.
    from strictwire.server.exact import ExactEndpoint, open_surface

    try:
        surface = open_surface(os.environ, runtime.settings.packs.get("context", {}))
    except ValueError as exc:
        raise StartRefused(str(exc)) from exc
    endpoint = ExactEndpoint(surface, runtime.pipeline.journal)
    await serve_stdio(endpoint, caller=runtime.caller, max_line=endpoint.max_line)


async def _serve_http(runtime: Runtime, serving: Serving, host: str, port: int) -> None:
    endpoints = {PATHS[profile]: runtime.endpoint(profile) for profile in ENDPOINTS}
    site = Site(endpoints=endpoints, gatekeeper=runtime.gatekeeper(), max_body=runtime.settings.server.max_request_bytes)
    http = HttpServer(site)
    try:
        port = await http.start(host, port)
    except OSError as exc:
        raise StartRefused(f"cannot listen on {host}:{port}: {exc.strerror}; choose another with --http HOST:PORT") from exc
    shown = f"[{host}]" if ":" in host else host
    serving.announce(f"http://{shown}:{port}{PATHS['mcp']}")
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError):  # no signal handlers on this platform's loop
            asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    await stopped.wait()
    await http.stop()


def report_start_failure(code: str, text: str) -> None:
    """S13: a failure to start is an envelope too, on standard error, after the sentence for people."""
    sys.stderr.write(f"strictwire: {text}\n")
    error = GovernedError.startup_failure(code, Facts(timestamp=Clock().timestamp()), human_message=text)
    sys.stderr.write(render(error.to_envelope()).decode() + "\n")


def set_up_logging(level: str) -> None:
    """Messages go to standard error; standard output belongs to the protocol."""
    logging.basicConfig(
        level=level.upper(), stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s", force=True
    )


def run_from_arguments(server: Server, argv: Sequence[str] | None = None) -> None:
    """`server.run()`: what an author's own file does when it is started."""
    parser = argparse.ArgumentParser(description=f"{server.identity.name} {server.identity.version}, an MCP server")
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--stdio", action="store_true", help="serve standard input and output (default)")
    way.add_argument("--http", metavar="HOST:PORT", type=parse_address, help="serve HTTP, such as 127.0.0.1:8808")
    parser.add_argument("--config", type=Path, help="settings file (default: strictwire.toml, if there is one)")
    given = parser.parse_args(argv)
    serving = Serving(stdio=given.http is None, http=given.http, announce=lambda url: print(url, file=sys.stderr))  # noqa: T201 - for the person
    sys.exit(run_server(server, file=given.config, serving=serving))


def run_server(server: Server, *, file: Path | None, serving: Serving, packs: tuple[str, ...] | None = ()) -> int:
    """Serve and return the exit code: 0 after a clean end, 1 if it could not start.

    `packs` are offered besides; None means those of the settings.
    """
    try:
        settings = read_settings(file=file)
        set_up_logging(settings.log.level)
        asyncio.run(serve(server, settings, serving, settings.server.packs if packs is None else packs))
    except SettingsRefused as exc:
        report_start_failure("BOOTSTRAP_FAILURE", str(exc))
        return 1
    except StartRefused as exc:
        report_start_failure(exc.code, str(exc))
        return 1
    except KeyboardInterrupt:
        return 0
    return 0
