"""Source specifiers, as users write them on the command line.

schemas            a folder of schema files
tools.json         a saved tools/list response
strictwire.lock    a lock file
git:main           the same folder at a commit; git:v1.2:schemas also names the folder or file
https://host/mcp   a running server
stdio:CMD ...      a server that strictwire starts with this command
-                  a saved tools/list response from standard input
"""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from strictwire.check.subject import ToolSet
from strictwire.sources.dump import LIMITS, parse_dump, read_dump
from strictwire.sources.folder import read_folder
from strictwire.sources.git import read_git
from strictwire.sources.lock import read_lock
from strictwire.sources.refused import SourceRefused

DEFAULT_SOURCE: Final = "schemas"


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveOptions:
    """How to reach a running server."""

    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers of every HTTP request, such as Authorization."""
    timeout: float = 60.0
    """Time limit for the start of the server, and for each response, in seconds."""


NO_OPTIONS: Final = LiveOptions()


def read_source(text: str | ToolSet, *, git_path: str | ToolSet = DEFAULT_SOURCE, live: LiveOptions = NO_OPTIONS) -> ToolSet:
    """Read the tools of a source. `git_path` is the path for a `git:REF` without a path. Raises SourceRefused."""
    if isinstance(text, ToolSet):
        return text
    if text == "-":
        return parse_dump(sys.stdin.buffer.read(LIMITS.size + 1), "standard input")
    if text.startswith("git:"):
        ref, _, inside = text.removeprefix("git:").partition(":")
        return read_git(ref, Path(inside or _local_path(git_path)))
    if text.startswith(("http://", "https://")):
        return _live(text, "http", live)
    if text.startswith("stdio:"):
        return _live(text.removeprefix("stdio:"), "stdio", live)
    path = Path(text)
    if path.is_dir():
        return read_folder(path)
    return read_lock(path) if path.suffix == ".lock" else read_dump(path)


def _local_path(source: str | ToolSet) -> str:
    """The path of a source, or the default folder if the source has no local path."""
    if isinstance(source, ToolSet):
        return DEFAULT_SOURCE
    return DEFAULT_SOURCE if source.startswith(("git:", "http:", "https:", "stdio:")) else source


def _live(target: str, kind: str, live: LiveOptions) -> ToolSet:
    # Imported here because loading the network stack would slow down every other use of the CLI.
    from strictwire.client import SessionOptions
    from strictwire.sources.live import read_http, read_stdio

    try:
        command = shlex.split(target) if kind == "stdio" else []
    except ValueError as exc:
        raise SourceRefused("stdio:", "the command has an unclosed quote") from exc
    if kind == "stdio" and not command:
        raise SourceRefused("stdio:", "the command is missing; expected stdio:CMD ...")
    options = SessionOptions(seconds=live.timeout, detect_seconds=live.timeout, headers=live.headers)
    reading: Awaitable[ToolSet] = read_stdio(command, options) if kind == "stdio" else read_http(target, options)
    return asyncio.run(_wait(reading))


async def _wait(reading: Awaitable[ToolSet]) -> ToolSet:
    return await reading
