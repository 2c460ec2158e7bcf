"""Source specifiers, as users write them on the command line.

schemas            a folder of schema files
tools.json         a saved tools/list response
strictwire.lock    a lock file
git:main           the same folder at a commit; git:v1.2:schemas also names the folder or file
https://host/mcp   a running server
stdio:CMD ...      a server that strictwire starts with this command
client:mcp.json    all servers of a client's configuration; client:cursor, client:mcp.json#NAME
-                  a saved tools/list response from standard input

A file that is not named with `client:` never starts a command, whatever it contains.
"""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from strictwire.check.subject import ToolSet
from strictwire.fault.redact import redact_text
from strictwire.sources.client_config import CLIENTS, ConfigRefused, ConfiguredServer, read_servers
from strictwire.sources.credentials import ClientCredentials
from strictwire.sources.dump import LIMITS, parse_dump, read_dump
from strictwire.sources.entries import merge, with_label
from strictwire.sources.folder import read_folder
from strictwire.sources.git import read_git
from strictwire.sources.label import command_label, url_label
from strictwire.sources.lock import read_lock
from strictwire.sources.refused import SourceRefused
from strictwire.sources.whole_file import read_whole

DEFAULT_SOURCE: Final = "schemas"

AT_ONCE: Final = 4
"""Servers that are started at the same time: each is a process of its own, and `npx` may download it first."""

MAX_CONFIG: Final = 16 * 1024 * 1024
"""Largest configuration of a client in bytes. Claude Code keeps its history in the same file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveOptions:
    """How to reach a running server."""

    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers of every HTTP request, such as Authorization. Never sent to the servers of a client's configuration."""
    timeout: float = 60.0
    """Time limit for the start of the server, and for each response, in seconds."""
    credentials: ClientCredentials | None = None
    """To get a bearer token for each HTTP server that the user names."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that the configuration of a client may refer to; they are also the environment of its servers."""
    platform: str = sys.platform
    env: Mapping[str, str] | None = None
    """Environment of the server process; None passes on our own."""
    cwd: str | None = None


NO_OPTIONS: Final = LiveOptions()


class SourcesRead(NamedTuple):
    """What was read of several sources, and what could not be read."""

    tools: tuple[ToolSet, ...]
    refused: tuple[SourceRefused, ...] = ()


Source = str | ToolSet
"""A specifier, or tools that are already at hand."""

Sources = Source | Sequence[Source]

_Read = Callable[[], ToolSet]


def read_sources(sources: Sequence[Source], live: LiveOptions = NO_OPTIONS) -> SourcesRead:
    """Read every source, and every server of a client's configuration. Raises SourceRefused if none can be read."""
    reads = [read for source in sources for read in _expand(source, live)]
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        outcomes = list(pool.map(_try, reads)) if len(reads) > 1 else [read() for read in reads]
    tools = tuple(each for each in outcomes if isinstance(each, ToolSet))
    refused = tuple(each for each in outcomes if isinstance(each, SourceRefused))
    if not tools and refused:
        raise refused[0]
    return SourcesRead(tools, refused)


def _try(read: _Read) -> ToolSet | SourceRefused:
    try:
        return read()
    except SourceRefused as exc:
        return exc


def read_source(
    source: Source | Sequence[Source],
    *,
    git_path: Source | Sequence[Source] = DEFAULT_SOURCE,
    live: LiveOptions = NO_OPTIONS,
) -> ToolSet:
    """Read sources as one set of tools. `git_path` is the path for a `git:REF` without a path.

    Raises SourceRefused if any part cannot be read, or if two sources have a tool of the same name.
    """
    sources = [source] if isinstance(source, str | ToolSet) else source
    read = read_sources([_with_path(each, git_path) for each in sources], live)
    if read.refused:
        raise read.refused[0]
    return merge(read.tools)


def _with_path(source: Source, git_path: Sources) -> Source:
    """`git:REF` with the path of another source, or of the default folder if that has no local path."""
    if not isinstance(source, str) or not source.startswith("git:") or source.count(":") > 1:
        return source
    return f"{source}:{next(iter(local_paths(git_path)), DEFAULT_SOURCE)}"


def local_paths(sources: Sources) -> list[str]:
    """The sources that are files or folders, which may also exist at a git commit."""
    given = [sources] if isinstance(sources, str | ToolSet) else sources
    return [each for each in given if isinstance(each, str) and not each.startswith(_NOT_PATHS) and each != "-"]


_NOT_PATHS: Final = ("git:", "http:", "https:", "stdio:", "client:")


def _expand(source: Source, live: LiveOptions) -> list[_Read]:
    if isinstance(source, ToolSet):
        return [lambda: source]
    if source.startswith("client:"):
        return _client_servers(source, live)
    return [lambda: _read_one(source, live)]


def _read_one(text: str, live: LiveOptions) -> ToolSet:
    if text == "-":
        return parse_dump(sys.stdin.buffer.read(LIMITS.size + 1), "standard input")
    if text.startswith("git:"):
        ref, _, inside = text.removeprefix("git:").partition(":")
        return read_git(ref, Path(inside or DEFAULT_SOURCE))
    if text.startswith(("http://", "https://")):
        return _read_http(text, live)
    if text.startswith("stdio:"):
        return _read_stdio(_words(text.removeprefix("stdio:")), live)
    path = Path(text)
    if path.is_dir():
        return read_folder(path)
    return read_lock(path) if path.suffix == ".lock" else read_dump(path)


def _client_servers(source: str, live: LiveOptions) -> list[_Read]:
    """Reads of the servers of `client:PATH`, `client:NAME` or `client:PATH#SERVER`."""
    where, _, wanted = source.removeprefix("client:").partition("#")
    known = CLIENTS.get(where)
    path = Path(known.paths.get(live.platform, known.paths["linux"]) if known else where).expanduser()
    if known is None and not path.exists():
        raise SourceRefused(source, f"neither a file nor a known client; clients: {', '.join(CLIENTS)}")
    raw = read_whole(path, MAX_CONFIG)
    try:
        servers = read_servers(raw, toml=path.suffix == ".toml", environment=live.environment)
    except ConfigRefused as exc:
        raise SourceRefused(str(path), str(exc)) from exc
    chosen = [each for each in servers if not wanted or each.name == wanted]
    if not chosen:
        names = ", ".join(each.name for each in servers) or "none"
        raise SourceRefused(str(path), f"there is no server {wanted!r}; servers: {names}")
    return [partial(_read_configured, each, f"{path}#{each.name}", live) for each in chosen]


def _read_configured(server: ConfiguredServer, label: str, live: LiveOptions) -> ToolSet:
    own = replace(live, headers=server.headers, credentials=None, env={**live.environment, **server.env}, cwd=server.cwd)
    if server.refusal:
        raise SourceRefused(label, server.refusal)
    try:
        tools = _read_http(server.url, own) if server.url else _read_stdio(list(server.command), own)
    except SourceRefused as exc:
        raise SourceRefused(label, f"{exc.source}: {exc.reason}") from exc
    return with_label(tools, label)


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as exc:
        raise SourceRefused("stdio:", "the command has an unclosed quote") from exc
    if not words:
        raise SourceRefused("stdio:", "the command is missing; expected stdio:CMD ...")
    return words


def _read_stdio(command: list[str], live: LiveOptions) -> ToolSet:
    # Imported here because loading the network stack would slow down every other use of the CLI.
    from strictwire.client import SessionOptions
    from strictwire.sources.live import read_stdio

    options = SessionOptions(seconds=live.timeout, detect_seconds=live.timeout, env=live.env, cwd=live.cwd)
    return _run(read_stdio(command, options), " ".join(command), command_label(command))


def _read_http(url: str, live: LiveOptions) -> ToolSet:
    from strictwire.client import SessionOptions
    from strictwire.sources.live import read_http
    from strictwire.sources.oauth import fetch_token

    headers = dict(live.headers)
    if live.credentials is not None:
        headers["Authorization"] = f"Bearer {fetch_token(url, live.credentials, seconds=live.timeout)}"
    options = SessionOptions(seconds=live.timeout, detect_seconds=live.timeout, headers=headers)
    return _run(read_http(url, options), url, url_label(url))


def _run(reading: Awaitable[ToolSet], target: str, label: str) -> ToolSet:
    """The tools. A reason that quotes the target quotes it without its secrets."""
    try:
        return asyncio.run(_wait(reading))
    except SourceRefused as exc:
        raise SourceRefused(exc.source, redact_text(exc.reason.replace(target, label))) from exc


async def _wait(reading: Awaitable[ToolSet]) -> ToolSet:
    return await reading
