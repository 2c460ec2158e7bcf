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
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from strictwire.canon.json import render
from strictwire.fault.dialects.system_v1 import GovernedError
from strictwire.fault.failure import Facts
from strictwire.packs.pack import PackRefused
from strictwire.pipeline.clock import Clock
from strictwire.server.compose import ENDPOINTS, PATHS, Runtime, open_runtime, trail_of, view_of, worker_folder
from strictwire.server.crew import Crew, Share, open_share
from strictwire.server.packs import open_packs
from strictwire.server.served import Served
from strictwire.settings.model import Settings
from strictwire.settings.places import state_folder
from strictwire.settings.read import SettingsRefused, read_settings
from strictwire.stores.fault import DAMAGED, LogFault
from strictwire.transport.handover import SEPARATOR, elsewhere_of
from strictwire.transport.http import HttpServer
from strictwire.transport.http_connection import Site
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
    workers: int | None = None
    """Processes, if they are not to be as many as the settings say."""
    share: Share | None = None
    """Set in each of several processes that serve one address."""


def parse_address(text: str) -> tuple[str, int]:
    """`HOST:PORT`, or `PORT` alone. Raises ValueError."""
    host, _, port = text.rpartition(":")
    if not re.fullmatch(r"[0-9]{1,5}", port) or int(port) > 65535:
        raise ValueError(f"{text!r}: expected HOST:PORT, such as 127.0.0.1:8808")
    return host.strip("[]") or "127.0.0.1", int(port)


async def serve(server: Served, settings: Settings, serving: Serving, packs: Sequence[str] = ()) -> None:
    """Serve until the end of input, SIGTERM or SIGINT. Raises StartRefused."""
    if serving.share is not None:
        folder = worker_folder(trail_of(settings.audit).folder, serving.share.number)
        settings = replace(settings, audit=replace(settings.audit, folder=str(folder)))
    host, port = serving.http or (settings.server.host, settings.server.port)
    if not serving.stdio:
        check_exposure(host, settings)
    try:
        async with (
            open_packs(
                server,
                packs,
                settings.packs,
                state_folder() / "packs",
                trail=view_of(settings.audit),
                alone=serving.share is None,
            ),
            _open_runtime(server, settings, serving) as runtime,
        ):
            if settings.server.lock is not None:
                _check_lock(server, settings.server.lock)
            rest_collector()
            if serving.stdio:
                await _serve_stdio(runtime, serving)
            else:
                await _serve_http(runtime, serving, host, port)
    except PackRefused as exc:
        raise StartRefused(str(exc)) from exc
    except LogFault as exc:
        raise trail_refused(exc) from exc


def _open_runtime(server: Served, settings: Settings, serving: Serving) -> AbstractAsyncContextManager[Runtime]:
    if serving.share is None:
        return open_runtime(server, settings, deterministic=serving.deterministic)
    return open_runtime(
        server,
        settings,
        deterministic=serving.deterministic,
        seal_key=serving.share.seal_key,
        session_prefix=f"{serving.share.number}{SEPARATOR}",
    )


def rest_collector() -> None:
    """What a server is made of stays until it ends, and a decoded message has no cycles: both need no looking through.

    By default every 700 containers start a collection, which is one in every second message of 10 KB.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER, 10, 10)


def _check_lock(server: Served, lock: str) -> None:
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
        runtime.endpoint(serving.profile),
        runtime.batch,
        caller=runtime.caller,
        max_line=runtime.settings.server.max_request_bytes,
    )


async def _serve_exact(runtime: Runtime) -> None:
    # Imported here because no other server needs the context pack.
    from strictwire.server.exact import ExactEndpoint, open_surface

    try:
        surface = open_surface(os.environ, runtime.settings.packs.get("context", {}))
    except ValueError as exc:
        raise StartRefused(str(exc)) from exc
    endpoint = ExactEndpoint(surface, runtime.core.pipeline.journal)
    await serve_stdio(endpoint, runtime.batch, caller=runtime.caller, max_line=endpoint.max_line)


async def _serve_http(runtime: Runtime, serving: Serving, host: str, port: int) -> None:
    share = serving.share
    site = Site(
        endpoints={PATHS[profile]: runtime.endpoint(profile) for profile in ENDPOINTS},
        gatekeeper=runtime.gatekeeper(),
        max_body=runtime.settings.server.max_request_bytes,
        batch=runtime.batch,
        elsewhere=None if share is None else elsewhere_of(share.doors, share.number),
    )
    http = HttpServer(site)
    if share is not None:
        await http.start_on(share.listening[share.number], share.doors[share.number])
    else:
        try:
            port = await http.start(host, port)
        except OSError as exc:
            raise StartRefused(cannot_listen(host, port, exc)) from exc
        serving.announce(url_of(host, port))
    stopped = stop_event()
    if share is not None:
        asyncio.get_running_loop().add_reader(share.hold_lifeline(), stopped.set)
    await stopped.wait()
    await http.stop()


def stop_event() -> asyncio.Event:
    """Set when the process is told to stop."""
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError):  # no signal handlers on this platform's loop
            asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    return stopped


def trail_refused(exc: LogFault) -> StartRefused:
    """An audit trail that does not hold, or cannot be kept, as the reason not to start."""
    if exc.reason == DAMAGED:
        text = f"the audit trail does not hold ({exc}); see strictwire audit verify, and move it away to begin a new one"
        return StartRefused(text, "SELF_AUDIT_FAILURE")
    text = f"the audit trail cannot be kept ({exc}); set audit.folder to a writable folder, or audit.mode to off"
    return StartRefused(text)


def url_of(host: str, port: int) -> str:
    """Where MCP is served."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}{PATHS['mcp']}"


def cannot_listen(host: str, port: int, exc: OSError) -> str:
    """What to do about an address that is taken."""
    return f"cannot listen on {host}:{port}: {exc.strerror}; choose another with --http HOST:PORT"


def _serve_with_crew(server: Served, settings: Settings, serving: Serving, packs: Sequence[str], count: int) -> int:
    """Serve one address with several processes; the exit code. Raises StartRefused."""
    host, port = serving.http or (settings.server.host, settings.server.port)
    check_exposure(host, settings)
    try:
        share = open_share(host, port, count)
    except OSError as exc:
        raise StartRefused(cannot_listen(host, port, exc)) from exc

    def work(number: int) -> int:
        own = replace(serving, share=replace(share, number=number))
        return _serve_until_stopped(server, settings, own, packs)

    serving.announce(url_of(host, share.listening[0].getsockname()[1]))
    return Crew(count, work).run()


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


def run_from_arguments(server: Served, argv: Sequence[str] | None = None) -> None:
    """`server.run()`: what an author's own file does when it is started."""
    parser = argparse.ArgumentParser(description=f"{server.identity.name} {server.identity.version}, an MCP server")
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--stdio", action="store_true", help="serve standard input and output (default)")
    way.add_argument("--http", metavar="HOST:PORT", type=parse_address, help="serve HTTP, such as 127.0.0.1:8808")
    parser.add_argument("--config", type=Path, help="settings file (default: strictwire.toml, if there is one)")
    parser.add_argument("--workers", type=int, metavar="N", help="processes that serve HTTP (default: server.workers)")
    given = parser.parse_args(argv)
    serving = Serving(stdio=given.http is None, http=given.http, workers=given.workers, announce=_say)
    sys.exit(run_server(server, file=given.config, serving=serving))


def _say(url: str) -> None:
    sys.stderr.write(f"{url}\n")
    sys.stderr.flush()


def run_server(server: Served, *, file: Path | None, serving: Serving, packs: tuple[str, ...] | None = ()) -> int:
    """Serve and return the exit code: 0 after a clean end, 1 if it could not start.

    `packs` are offered besides; None means those of the settings.
    """
    try:
        settings = read_settings(file=file)
        set_up_logging(settings.log.level)
        offered = settings.server.packs if packs is None else packs
        count = serving.workers or settings.server.workers
        if count > 1 and not serving.stdio:
            return _serve_with_crew(server, settings, serving, offered, count)
    except SettingsRefused as exc:
        report_start_failure("BOOTSTRAP_FAILURE", str(exc))
        return 1
    except StartRefused as exc:
        report_start_failure(exc.code, str(exc))
        return 1
    return _serve_until_stopped(server, settings, serving, offered)


def _serve_until_stopped(server: Served, settings: Settings, serving: Serving, packs: Sequence[str]) -> int:
    try:
        asyncio.run(serve(server, settings, serving, packs))
    except StartRefused as exc:
        report_start_failure(exc.code, str(exc))
        return 1
    except KeyboardInterrupt:
        return 0
    return 0
