"""Where a Client finds its server: a command, a URL, or a Server of this process.

Each target is a value with the options that only its transport has. `Client` also takes a list of words, a URL or a Server
and makes the target from it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol, TypeAlias, runtime_checkable

from strictwire.client.errors import CannotReach
from strictwire.client.session import Session, SessionOptions, open_http, open_stdio

INHERITED: Final = frozenset(
    {"APPDATA", "HOME", "LANG", "LOCALAPPDATA", "LOGNAME", "PATH", "PATHEXT", "SHELL", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP"}
    | {"TERM", "TMP", "TMPDIR", "USER", "USERNAME", "USERPROFILE", "VIRTUAL_ENV"}
)
"""Variables that a server process inherits. Others may be secrets, which a server of another author must not see."""


@runtime_checkable
class Target(Protocol):
    """A server that a Client can talk to. `Stdio`, `Http`, `InMemory` and `Server` implement it."""

    async def open_session(self, options: SessionOptions) -> Session:
        """Connect to the server and open a session. Raises ClientError."""
        ...


AnyTarget: TypeAlias = Target | str | Sequence[str]
"""A target, a URL, or the words of a command."""


@dataclass(frozen=True, slots=True)
class Stdio:
    """A server that the client starts and talks to over its standard input and output."""

    command: Sequence[str]
    """The program and its arguments. It never passes through a shell."""
    env: Mapping[str, str] | None = field(default=None, repr=False)
    """Variables besides PATH, HOME and the few others of `INHERITED`. Pass `os.environ` to inherit everything."""
    cwd: str | None = None
    """The working directory; None for that of this process."""
    restart: bool = False
    """Start the server again for the next request if it has ended."""

    async def open_session(self, options: SessionOptions) -> Session:
        """Start the command. Raises ClientError."""
        inherited = {name: value for name, value in os.environ.items() if name.upper() in INHERITED}
        return await open_stdio(self.command, replace(options, env=inherited | dict(self.env or {}), cwd=self.cwd))


@dataclass(frozen=True, slots=True)
class Http:
    """A server at a URL (Streamable HTTP)."""

    url: str
    token: str | None = field(default=None, repr=False)
    """Sent as `Authorization: Bearer TOKEN`, to this URL only: redirects are not followed."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Further headers of every request."""
    restart: bool = True
    """Open a new session for the next request if the server has forgotten the session."""

    async def open_session(self, options: SessionOptions) -> Session:
        """Connect to the URL. Raises ClientError."""
        given = {**options.headers, **self.headers}
        if self.token is not None:
            given["Authorization"] = f"Bearer {self.token}"
        if "@" in self.url.partition("://")[2].partition("/")[0] and any(name.lower() == "authorization" for name in given):
            raise CannotReach(self.url, "it has a user or password, and there is a token; use one of them")
        _check_headers(given)
        return await open_http(self.url, replace(options, headers=given))


def target_of(given: AnyTarget) -> Target:
    """The target that a user names. Raises TypeError: it is none."""
    if isinstance(given, str):
        if given.startswith(("http://", "https://")):
            return Http(given)
        raise TypeError("expected a URL that starts with http:// or https://; pass a command as a list of words")
    if isinstance(given, list | tuple):
        return Stdio(tuple(given))
    if isinstance(given, Target):
        return given
    raise TypeError(f"expected a Server, a URL, the words of a command, Stdio, Http or InMemory, got {type(given).__name__}")


def reopens(target: Target) -> bool:
    """Whether a session that has ended may be opened again."""
    return bool(getattr(target, "restart", False))


def _check_headers(headers: Mapping[str, str]) -> None:
    """Refuse values that would end the header. The value is not shown: it may be a token. Raises CannotReach."""
    for name, value in headers.items():
        if not f"{name}{value}".isprintable() or not f"{name}{value}".isascii():
            raise CannotReach(f"header {name.encode('ascii', 'replace').decode()[:40]!r}", "not printable ASCII")
