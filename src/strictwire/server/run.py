"""Runs a server over stdio or HTTP until the end of input or a stop signal."""

from __future__ import annotations

import argparse
import asyncio
import errno
import gc
import ipaddress
import logging
import os
import re
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from strictwire.canon.json import render
from strictwire.fault.dialects.system_v1 import GovernedError
from strictwire.fault.escape import for_terminal
from strictwire.fault.failure import Facts
from strictwire.packs.pack import PackRefused
from strictwire.pipeline.clock import Clock
from strictwire.server.compose import PATHS, Runtime, open_runtime, private_paths, view_of
from strictwire.server.declare.lifespan import LifespanFailed
from strictwire.server.declare.refused import DeclarationRefused
from strictwire.server.heap import map_large_blocks
from strictwire.server.logs import set_up_logging
from strictwire.server.packs import check_workers, open_packs
from strictwire.server.served import Served
from strictwire.server.shutdown import run_main
from strictwire.server.workers import Supervisor, WorkerInheritance, open_inheritance
from strictwire.settings.model import Settings
from strictwire.settings.places import state_folder
from strictwire.settings.read import SettingsRefused, read_settings
from strictwire.stores.fault import DAMAGED, LogFault
from strictwire.transport.http.handoff import SEPARATOR, owner_finder
from strictwire.transport.http.server import HttpServer
from strictwire.transport.stdio import serve_stdio

COLLECT_AFTER: Final = 20_000
"""New container objects between two garbage collections: a few megabytes at most. The default of Python is 700, which starts
a collection every second message of 10 KB."""

log = logging.getLogger("strictwire")


class StartRefused(Exception):
    """The server cannot start. Has a message that says what to do, and the failure code."""

    def __init__(self, text: str, code: str = "BOOTSTRAP_FAILURE") -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """How to run a server. The settings file has the rest."""

    stdio: bool = False
    """Serve stdio instead of HTTP."""
    http: tuple[str, int] | None = None
    """Host and port; None uses those of the settings."""
    profile: str = "mcp"
    """The profile over stdio. Over HTTP each profile has a path of its own."""
    deterministic: bool = False
    """Use a fixed clock and fixed ids, for reproducible output."""
    exact_v0: bool = False
    """Serve only Context Resolve v0 over stdio, byte for byte."""
    announce: Callable[[str, bool], None] = lambda _url, _needs_token: None
    """Called when the server listens: with its URL, and whether clients need a token."""
    workers: int | None = None
    """Number of worker processes; None uses that of the settings."""
    inheritance: WorkerInheritance | None = None
    """Set in a worker process: what it inherits from the supervisor."""


def parse_address(text: str) -> tuple[str, int]:
    """Parse `HOST:PORT`, or `PORT` for 127.0.0.1. Raises ValueError."""
    host, _, port = text.rpartition(":")
    if not re.fullmatch(r"[0-9]{1,5}", port) or int(port) > 65535:
        raise ValueError(f"{text!r}: expected HOST:PORT, such as 127.0.0.1:8808")
    return host.strip("[]") or "127.0.0.1", int(port)


async def serve(server: Served, settings: Settings, serving: Serving, packs: Sequence[str] = ()) -> None:
    """Serve until the end of input, SIGTERM or SIGINT. Raises StartRefused, or LifespanFailed after a failed end."""
    worker = None if serving.inheritance is None else serving.inheritance.number
    host, port = serving.http or (settings.server.host, settings.server.port)
    if not serving.stdio:
        check_exposure(host, settings)
    try:
        # The packs add their tools to the server before the runtime opens and close after it.
        async with (
            open_packs(
                server,
                packs,
                settings.packs,
                state_folder() / "packs",
                trail=view_of(settings.audit, worker),
                private=private_paths(settings.audit),
                alone=serving.inheritance is None,
            ),
            _open_runtime(server, settings, serving) as runtime,
        ):
            if settings.server.lock is not None:
                _check_lock(server, settings.server.lock)
            tune_garbage_collector()
            if serving.stdio:
                await _serve_stdio(runtime, serving)
            else:
                await _serve_http(runtime, serving, host, port)
    except (PackRefused, DeclarationRefused) as exc:
        raise StartRefused(str(exc)) from exc
    except LogFault as exc:
        raise trail_refused(exc) from exc
    except LifespanFailed as exc:
        log.error("%s", exc, exc_info=exc.cause)  # noqa: TRY400 - the traceback of the author, not ours
        if exc.at_start:
            raise StartRefused(f"{exc}; the traceback is in the log") from exc
        raise


def _open_runtime(server: Served, settings: Settings, serving: Serving) -> AbstractAsyncContextManager[Runtime]:
    inherited = serving.inheritance
    return open_runtime(
        server,
        settings,
        deterministic=serving.deterministic,
        seal_key=inherited.seal_key if inherited else None,
        session_prefix=f"{inherited.number}{SEPARATOR}" if inherited else "",
        worker=inherited.number if inherited else None,
    )


def tune_garbage_collector() -> None:
    """Make garbage collections rare and short. Call it once, when the server is built.

    The objects of the server live as long as the process, so they are excluded from collections. Decoded messages have no
    reference cycles, so reference counting frees them without a collection.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER, 10, 10)


def _check_lock(server: Served, lock: str) -> None:
    # Imported here because it is only needed with a lock file, and start-up time counts.
    from strictwire.server.selfcheck import SelfCheckFailed, check_lock

    try:
        check_lock(server.catalog.offers.registry, lock)
    except SelfCheckFailed as exc:
        raise StartRefused(str(exc), "SELF_AUDIT_FAILURE") from exc


def check_exposure(host: str, settings: Settings) -> None:
    """Refuse to listen without tokens on an address that other machines can reach. Raises StartRefused."""
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
    # Imported here because only Context Resolve v0 needs the context pack.
    from strictwire.server.exact import ExactEndpoint, open_surface

    try:
        surface = open_surface(os.environ, runtime.settings.packs.get("context", {}))
    except ValueError as exc:
        raise StartRefused(str(exc)) from exc
    endpoint = ExactEndpoint(surface, runtime.core.pipeline.journal)
    await serve_stdio(endpoint, runtime.batch, caller=runtime.caller, max_line=endpoint.max_line)


async def _serve_http(runtime: Runtime, serving: Serving, host: str, port: int) -> None:
    # Before the URL is announced: a signal that comes after it must not end the process with the lifespan open.
    stopped = stop_event()
    inherited = serving.inheritance
    http = HttpServer(
        runtime.site(), find_owner=None if inherited is None else owner_finder(inherited.handoffs, inherited.number)
    )
    if inherited is not None:
        await http.start_worker(inherited.listeners[inherited.number], inherited.handoffs[inherited.number])
    else:
        try:
            port = await http.start(host, port)
        except OSError as exc:
            raise StartRefused(cannot_listen(host, port, exc)) from exc
        serving.announce(url_of(host, port), bool(runtime.settings.server.tokens))
    if inherited is not None:
        asyncio.get_running_loop().add_reader(inherited.hold_lifeline(), stopped.set)
    await stopped.wait()
    await http.stop()


def stop_event() -> asyncio.Event:
    """An event that is set by SIGTERM and SIGINT."""
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError):  # the event loop of Windows has no signal handlers
            asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    return stopped


def trail_refused(exc: LogFault) -> StartRefused:
    """The StartRefused for an audit trail that is damaged or cannot be written."""
    if exc.reason == DAMAGED:
        text = (
            f"the audit trail is damaged ({exc}); run `strictwire audit verify`, keep a copy of the folder for the "
            "investigation, then run `strictwire audit repair`"
        )
        return StartRefused(text, "SELF_AUDIT_FAILURE")
    text = f"the audit trail cannot be written ({exc}); set audit.folder to a writable folder, or audit.mode to off"
    return StartRefused(text)


def url_of(host: str, port: int) -> str:
    """The URL of the MCP endpoint."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}{PATHS['mcp']}"


def cannot_listen(host: str, port: int, exc: OSError) -> str:
    """The message for an address that the server cannot listen on."""
    # asyncio repeats the address in `strerror`; the number has the reason alone. That of a name lookup is no errno.
    reason = os.strerror(exc.errno).lower() if exc.errno and exc.errno in errno.errorcode else exc.strerror
    return f"cannot listen on {host}:{port}: {reason}; choose another with --http HOST:PORT"


def _serve_with_workers(server: Served, settings: Settings, serving: Serving, packs: Sequence[str], count: int) -> int:
    """Serve one address with several worker processes. Returns the exit code. Raises StartRefused."""
    host, port = serving.http or (settings.server.host, settings.server.port)
    check_exposure(host, settings)
    try:
        check_workers(packs)
    except PackRefused as exc:
        raise StartRefused(str(exc)) from exc
    try:
        inheritance = open_inheritance(host, port, count)
    except OSError as exc:
        raise StartRefused(cannot_listen(host, port, exc)) from exc

    def work(number: int) -> int:
        own = replace(serving, inheritance=replace(inheritance, number=number))
        return run_until_stopped(serve(server, settings, own, packs))

    serving.announce(url_of(host, inheritance.listeners[0].getsockname()[1]), bool(settings.server.tokens))
    return Supervisor(count, work).run()


def report_start_failure(code: str, text: str) -> None:
    """Write a failure to start to stderr: a message for people, then the failure envelope for programs (S13)."""
    sys.stderr.write(f"strictwire: {for_terminal(text)}\n")
    error = GovernedError.startup_failure(code, Facts(timestamp=Clock().timestamp()), human_message=text)
    sys.stderr.write(render(error.to_envelope()).decode() + "\n")


def run_from_arguments(server: Served, argv: Sequence[str] | None = None) -> None:
    """The command line of `server.run()`. Ends the process."""
    parser = argparse.ArgumentParser(description=f"{server.identity.name} {server.identity.version}, an MCP server")
    transport = parser.add_mutually_exclusive_group()
    transport.add_argument("--stdio", action="store_true", help="serve standard input and output (default)")
    transport.add_argument(
        "--http", metavar="HOST:PORT", type=parse_address, help="serve HTTP on this address, such as 127.0.0.1:8808"
    )
    parser.add_argument("--config", type=Path, help="settings file (default: strictwire.toml, if it exists)")
    parser.add_argument(
        "--workers", type=int, metavar="N", help="number of processes that serve HTTP (default: server.workers)"
    )
    given = parser.parse_args(argv)
    serving = Serving(stdio=given.http is None, http=given.http, workers=given.workers, announce=_print_url)
    sys.exit(run_server(server, file=given.config, serving=serving))


def _print_url(url: str, _needs_token: bool) -> None:
    sys.stderr.write(f"{url}\n")
    sys.stderr.flush()


def run_server(server: Served, *, file: Path | None, serving: Serving, packs: tuple[str, ...] | None = ()) -> int:
    """Serve until stopped. Returns the exit code: 0 after a clean end, 1 if the server cannot start.

    The tools of `packs` are added to those of the server; None means the packs of the settings.
    """
    try:
        settings = read_settings(file=file)
        set_up_logging(settings.log)
        names = settings.server.packs if packs is None else packs
        count = serving.workers or settings.server.workers
        if count > 1 and not serving.stdio:
            return _serve_with_workers(server, settings, serving, names, count)
    except SettingsRefused as exc:
        report_start_failure("BOOTSTRAP_FAILURE", str(exc))
        return 1
    except StartRefused as exc:
        report_start_failure(exc.code, str(exc))
        return 1
    return run_until_stopped(serve(server, settings, serving, names))


def run_until_stopped(serving: Coroutine[None, None, None]) -> int:
    """Run a server or a guard. Returns the exit code: 0 after a clean end, 1 if it cannot start or its lifespan fails."""
    map_large_blocks()
    try:
        run_main(serving)
    except StartRefused as exc:
        report_start_failure(exc.code, str(exc))
        return 1
    except LifespanFailed:
        return 1
    except KeyboardInterrupt:
        return 0
    return 0
