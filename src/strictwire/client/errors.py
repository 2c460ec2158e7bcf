"""Errors of a client. Each has the `Failure` that a program acts on: code, retryable, action, details.

```
ClientError
├── CannotReach     the command does not start, or the address does not accept connections
├── ServerGone      the server exited or closed the connection while a request was in flight
│   └── SessionExpired  the server does not know the session any more
├── TimedOut        no response in time
├── TooLarge        a line, a body or an event is larger than its limit
├── NotUnderstood   the response is not valid JSON-RPC or MCP, or there is no protocol version in common
│   └── OutputInvalid   the structured content of a tool does not match its output schema
└── RequestFailed   the server answered with a JSON-RPC error
    └── ToolFailed      the tool answered with `isError`
```
They contain no secrets of the client: a URL is kept without its user, password and query. In a session an error
response is a `RemoteError` value; the public `Client` raises it as RequestFailed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.fault.catalogue import CATALOGUE
from strictwire.fault.escape import for_terminal
from strictwire.fault.failure import Failure, fail

MAX_TEXT: Final = 500
"""Characters of a server's text in the message of an exception. `failure.text` has all of it."""


class ClientError(Exception):
    """A failure of a connection, or of a request."""

    @property
    def failure(self) -> Failure:
        """The failure as a value. It contains no text of the server."""
        return fail("UPSTREAM_BROKE", cause={"name": type(self).__name__})

    @property
    def action(self) -> str:
        """What to do next."""
        failure = self.failure
        return failure.action or CATALOGUE[failure.code].action


class CannotReach(ClientError):
    """The command does not start, or the address does not accept connections."""

    def __init__(self, target: str, reason: str) -> None:
        shown = without_secrets(target)
        super().__init__(shown, reason)
        self.target = shown
        self.reason = reason

    def __str__(self) -> str:
        return f"cannot reach {self.target}: {self.reason}"

    @property
    def failure(self) -> Failure:
        """UPSTREAM_GONE."""
        return _gone(self)


class ServerGone(ClientError):
    """The server exited, or closed the connection, while a request was in flight."""

    def __init__(self, exit_code: int | None = None, stderr: bytes = b"") -> None:
        super().__init__(exit_code, stderr)
        self.exit_code = exit_code
        self.stderr = stderr
        """The last bytes that it wrote to stderr. May contain secrets: only for the operator."""

    def __str__(self) -> str:
        return "the server closed the connection" if self.exit_code is None else f"the server exited {self.exit_code}"

    @property
    def failure(self) -> Failure:
        """UPSTREAM_GONE, with the exit code if it is known."""
        return _gone(self) if self.exit_code is None else _gone(self, exitCode=self.exit_code)


class SessionExpired(ServerGone):
    """The server does not know the session any more (HTTP 404): it restarted, or the session was idle for too long."""

    def __str__(self) -> str:
        return "the session has expired at the server; open a new one"


class TimedOut(ClientError):
    """The server did not respond in time."""

    def __init__(self, what: str, seconds: float) -> None:
        shown = without_secrets(what)
        super().__init__(shown, seconds)
        self.what = shown
        self.seconds = seconds

    def __str__(self) -> str:
        return f"no answer within {self.seconds:g} s: {self.what}"

    @property
    def failure(self) -> Failure:
        """TIMEOUT."""
        return fail("TIMEOUT", details={"timeoutMs": int(self.seconds * 1000)})


class TooLarge(ClientError):
    """The server sent more than a limit allows. The excess is not kept in memory."""

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(what, limit)
        self.what = what
        self.limit = limit

    def __str__(self) -> str:
        return f"the server sent {self.what} larger than {self.limit} bytes"

    @property
    def failure(self) -> Failure:
        """CAP_EXCEEDED."""
        return fail("CAP_EXCEEDED", details={"limitBytes": self.limit})


class NotUnderstood(ClientError):
    """The protocol does not allow this response here."""

    def __init__(self, reason: str, raw: bytes = b"", status: int | None = None) -> None:
        super().__init__(reason, raw, status)
        self.reason = reason
        self.raw = raw
        self.status = status
        """The HTTP status, if the response came over HTTP."""

    def __str__(self) -> str:
        text = f"the response of the server was not understood: {self.reason}"
        check = _CHECKS.get(self.status, _CHECK_LOG if self.status is not None and self.status >= FIRST_SERVER_ERROR else "")
        return f"{text}; {check}" if check else text

    @property
    def failure(self) -> Failure:
        """UPSTREAM_BROKE, or what the HTTP status means."""
        if self.status in _STATUSES:
            return fail(_STATUSES[self.status], details={"status": self.status})
        cause = {"name": type(self).__name__, "message": self.reason}
        return fail("UPSTREAM_BROKE", details={"reason": "not_understood"}, cause=cause)


class OutputInvalid(NotUnderstood):
    """The structured content of a tool does not match its advertised output schema, or the requested type."""

    def __init__(self, tool: str, violations: Sequence[JsonObject]) -> None:
        super().__init__("the structured content does not match")
        self.tool = tool
        self.violations = tuple(violations)
        """Where the content is wrong: path and keyword. No part of the content itself."""

    def __str__(self) -> str:
        places = ", ".join(f"{each.get('path') or '/'} ({each.get('keyword')})" for each in self.violations)
        return f"{for_terminal(self.tool)}: the structured content does not match its schema: {for_terminal(places)}"

    @property
    def failure(self) -> Failure:
        """OUTPUT_INVALID, with the violations."""
        return fail("OUTPUT_INVALID", details={"violations": list(self.violations)})


class RequestFailed(ClientError):
    """The server answered a request with a JSON-RPC error."""

    def __init__(
        self, what: str, failure: Failure, *, number: int | None = None, data: JsonValue = None, reason: str = ""
    ) -> None:
        super().__init__(what, failure.shown_code)
        self._reason = reason
        self.what = what
        """The tool, prompt or URI, or the method."""
        self.number = number
        """The JSON-RPC error code; None for a tool that failed."""
        self.data = data
        """The `data` of the JSON-RPC error."""
        self._failure = failure

    @property
    def failure(self) -> Failure:
        """The failure as far as it can be read. Its text is the server's own."""
        return self._failure

    def __str__(self) -> str:
        text = self._failure.text + (f": {self._reason}" if self._reason else "")
        return f"{for_terminal(self.what[:MAX_TEXT])}: {self._failure.shown_code}: {for_terminal(text[:MAX_TEXT])}"


class ToolFailed(RequestFailed):
    """A tool answered with `isError`."""

    def __init__(self, tool: str, failure: Failure, result: JsonObject) -> None:
        super().__init__(tool, failure)
        self.result = result
        """The whole result of the tool."""


_STATUSES: Final[Mapping[int | None, str]] = MappingProxyType(
    {
        401: "UNAUTHENTICATED",
        403: "PERMISSION_DENIED",
        404: "PATH_UNKNOWN",
        405: "HTTP_METHOD_DENIED",
        413: "REQUEST_TOO_LARGE",
        429: "RATE_LIMITED",
        502: "UPSTREAM_GONE",
        503: "UPSTREAM_GONE",
        504: "UPSTREAM_GONE",
    }
)
"""What an HTTP status without a JSON-RPC message means."""


FIRST_SERVER_ERROR: Final = 500

_CHECK_PATH: Final = "check the path of the URL, which is often /mcp"
_CHECK_LOGIN: Final = "check the token in the Authorization header"
_CHECK_LOG: Final = f"read the log of the server, and {_CHECK_PATH}"

_CHECKS: Final[Mapping[int | None, str]] = MappingProxyType(
    {401: _CHECK_LOGIN, 403: _CHECK_LOGIN, 404: _CHECK_PATH, 405: _CHECK_PATH}
)
"""What to check after an HTTP status without a JSON-RPC message."""


def without_secrets(target: str) -> str:
    """A target without what may be secret: a URL without user, password, query and fragment."""
    if "://" not in target:
        return target
    try:
        parts = urlsplit(target)
    except ValueError:
        return "the URL"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _gone(error: ClientError, **details: int) -> Failure:
    return fail("UPSTREAM_GONE", details=details, cause={"name": type(error).__name__})
