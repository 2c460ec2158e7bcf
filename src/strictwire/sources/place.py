"""Names of sources, as people write them, and reading what they name.

schemas            a folder of schema files
tools.json         a saved tools/list answer
strictwire.lock    a lock file
git:main           the same folder at a commit; git:v1.2:schemas names the folder or file
https://host/mcp   a running server
stdio:CMD ...      a server that is started
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Awaitable
from pathlib import Path
from typing import Final

from strictwire.check.subject import ToolSet
from strictwire.sources.dump import read_dump
from strictwire.sources.folder import read_folder
from strictwire.sources.git import read_git
from strictwire.sources.lock import read_lock
from strictwire.sources.refused import SourceRefused

DEFAULT_SOURCE: Final = "schemas"


def read_source(text: str, *, beside: str = DEFAULT_SOURCE) -> ToolSet:
    """Read what a source names; `beside` is the folder that a bare `git:REF` means. Raises SourceRefused."""
    if text.startswith("git:"):
        ref, _, inside = text.removeprefix("git:").partition(":")
        return read_git(ref, Path(inside or _folder_of(beside)))
    if text.startswith(("http://", "https://")):
        return _live(text, "http")
    if text.startswith("stdio:"):
        return _live(text.removeprefix("stdio:"), "stdio")
    path = Path(text)
    if path.is_dir():
        return read_folder(path)
    return read_lock(path) if path.suffix == ".lock" else read_dump(path)


def _folder_of(beside: str) -> str:
    """A bare ref is compared with the same files; a live server has none, the usual folder stands for it."""
    return DEFAULT_SOURCE if beside.startswith(("git:", "http:", "https:", "stdio:")) else beside


def _live(target: str, kind: str) -> ToolSet:
    # The network stack is loaded only when a server is asked: `strictwire lint --help` must start at once.
    from strictwire.sources.live import read_http, read_stdio

    try:
        command = shlex.split(target) if kind == "stdio" else []
    except ValueError as exc:
        raise SourceRefused(target, "the command has an open quote") from exc
    if kind == "stdio" and not command:
        raise SourceRefused("stdio:", "name the command that starts the server")
    reading: Awaitable[ToolSet] = read_stdio(command) if kind == "stdio" else read_http(target)
    return asyncio.run(_wait(reading))


async def _wait(reading: Awaitable[ToolSet]) -> ToolSet:
    return await reading
