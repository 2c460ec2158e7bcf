"""Errors of a connection to another server.

```
ClientError
├── CannotReach     the command does not start, or the address does not accept connections
├── ServerGone      the server exited or closed the connection while a request was in flight
├── TimedOut        no response in time
├── TooLarge        a line, a body or an event is larger than its limit
└── NotUnderstood   the response is not valid JSON-RPC, or there is no protocol version in common
```
An error response of the server is not one of these: it is a `RemoteError` value.
"""

from __future__ import annotations


class ClientError(Exception):
    """A failure of a connection."""


class CannotReach(ClientError):
    """The command does not start, or the address does not accept connections."""

    def __init__(self, target: str, reason: str) -> None:
        super().__init__(target, reason)
        self.target = target
        self.reason = reason

    def __str__(self) -> str:
        return f"cannot reach {self.target}: {self.reason}"


class ServerGone(ClientError):
    """The server exited, or closed the connection, while a request was in flight."""

    def __init__(self, exit_code: int | None = None, stderr: bytes = b"") -> None:
        super().__init__(exit_code, stderr)
        self.exit_code = exit_code
        self.stderr = stderr
        """The last bytes that it wrote to stderr. May contain secrets: only for the operator."""

    def __str__(self) -> str:
        return "the server closed the connection" if self.exit_code is None else f"the server exited {self.exit_code}"


class TimedOut(ClientError):
    """The server did not respond in time."""

    def __init__(self, what: str, seconds: float) -> None:
        super().__init__(what, seconds)
        self.what = what
        self.seconds = seconds

    def __str__(self) -> str:
        return f"no answer within {self.seconds:g} s: {self.what}"


class TooLarge(ClientError):
    """The server sent more than a limit allows. The excess is not kept in memory."""

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(what, limit)
        self.what = what
        self.limit = limit

    def __str__(self) -> str:
        return f"the server sent {self.what} larger than {self.limit} bytes"


class NotUnderstood(ClientError):
    """The protocol does not allow this response here."""

    def __init__(self, reason: str, raw: bytes = b"", status: int | None = None) -> None:
        super().__init__(reason, raw, status)
        self.reason = reason
        self.raw = raw
        self.status = status
        """The HTTP status, if the response came over HTTP."""

    def __str__(self) -> str:
        return f"the response of the server was not understood: {self.reason}"
