"""What can go wrong with a connection to another server.

```
ClientError
├── CannotReach     the command does not start, the address does not answer
├── ServerGone      it ended or closed the connection while an answer was due
├── TimedOut        no answer in time; the request was cancelled
├── TooLarge        a line, a body or an event is beyond its limit
└── NotUnderstood   an answer that is not strict JSON-RPC, or no version in common
```
An error object that the server sent is not one of these: it is a `RemoteError` value.
"""

from __future__ import annotations


class ClientError(Exception):
    """Any failure of a connection. The blame is the other side's unless a subclass says otherwise."""


class CannotReach(ClientError):
    """The command did not start or the address did not answer."""

    def __init__(self, target: str, reason: str) -> None:
        super().__init__(target, reason)
        self.target = target
        self.reason = reason

    def __str__(self) -> str:
        return f"cannot reach {self.target}: {self.reason}"


class ServerGone(ClientError):
    """The server ended, or closed the connection, while an answer was due."""

    def __init__(self, exit_code: int | None = None, stderr: bytes = b"") -> None:
        super().__init__(exit_code, stderr)
        self.exit_code = exit_code
        self.stderr = stderr
        """The last bytes it wrote to stderr, for a person's eyes only."""

    def __str__(self) -> str:
        return "the server closed the connection" if self.exit_code is None else f"the server exited {self.exit_code}"


class TimedOut(ClientError):
    """No answer in time."""

    def __init__(self, what: str, seconds: float) -> None:
        super().__init__(what, seconds)
        self.what = what
        self.seconds = seconds

    def __str__(self) -> str:
        return f"no answer to {self.what} within {self.seconds:g} s"


class TooLarge(ClientError):
    """What the server sent is beyond a limit; the excess was not kept."""

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(what, limit)
        self.what = what
        self.limit = limit

    def __str__(self) -> str:
        return f"{self.what} of the server is larger than {self.limit} bytes"


class NotUnderstood(ClientError):
    """The answer is not what the protocol allows at this place."""

    def __init__(self, reason: str, raw: bytes = b"", status: int | None = None) -> None:
        super().__init__(reason, raw, status)
        self.reason = reason
        self.raw = raw
        self.status = status
        """The HTTP status, where the answer came by HTTP."""

    def __str__(self) -> str:
        return f"the server's answer is not understood: {self.reason}"
