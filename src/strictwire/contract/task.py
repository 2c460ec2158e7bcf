"""What a tool promises about tasks: whether its calls become tasks, and how long these run and are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from strictwire.canon.json import JsonObject

EXTENSION: Final = "io.modelcontextprotocol/tasks"
"""The MCP extension that tasks belong to."""

REQUIRED_CAPABILITIES: Final[JsonObject] = {"extensions": {EXTENSION: {}}}
"""What a client must declare before it gets a task."""


RENDERED: Final = 3
"""How much longer a result is as it is sent: structured content, and once more as text, where JSON escapes every quote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPolicy:
    """How the calls of a tool become tasks. A client without the extension gets a plain call, or a refusal."""

    required: bool = False
    """Whether a client that does not declare the extension is refused."""
    start: Literal["call", "handler"] = "call"
    """When a call becomes a task: at once, or when the handler calls `Context.start_task`. Questions of the handler before
    that are part of the call, and those after it are part of the task."""
    timeout_ms: int = 3_600_000
    """How long the handler may run. Waiting for answers of the client does not count."""
    keep_ms: int = 600_000
    """How long the result can be read, at least. A client that polls every few seconds needs less than a minute."""
    result_bytes: int = 64 * 1024
    """Size of the structured content and text of the result: 16,000 tokens, more than most models want in one answer."""
    poll_ms: int = 1000
    """How often a client should ask for the status."""

    @property
    def kept_bytes(self) -> int:
        """The most that a kept result takes. It is reserved when the task begins, so that there is always room for it."""
        return RENDERED * self.result_bytes

    @property
    def ttl_ms(self) -> int:
        """How long after its creation a task expires."""
        return self.timeout_ms + self.keep_ms
