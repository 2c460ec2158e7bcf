"""strictwire: the contract layer for MCP (Model Context Protocol)."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from strictwire.client.errors import ClientError, RequestFailed, ToolFailed
    from strictwire.client.questions import Elicitation, Sampling
    from strictwire.contract.safety import Safety
    from strictwire.contract.task import TaskPolicy
    from strictwire.contract.tool import Caps, ToolContract
    from strictwire.fault.failure import Failure, Refused, fail
    from strictwire.fault.raised import Conflict, NotFound, ToolError, Unavailable
    from strictwire.fault.reading import read_failure
    from strictwire.server.author import Server
    from strictwire.server.client.client import Client
    from strictwire.server.client.targets import Http, Stdio
    from strictwire.server.client.values import Change, LogMessage, Progress, Tool, ToolResult
    from strictwire.server.content import Audio, Embedded, Image, Link, Result, Text
    from strictwire.server.declare.context import Context
    from strictwire.server.declare.depends import Depends
    from strictwire.server.declare.forms import elicitation
    from strictwire.server.declare.questions import Elicited, Sampled, ToolUse, roots, sampling
    from strictwire.server.declare.refused import DeclarationRefused
    from strictwire.server.middleware import Call, CallNext, CallResult, Listing, ListNext
    from strictwire.server.testing import InMemory, MemoryClient
    from strictwire.server.transforming import Argument, Hidden

__version__ = "0.1.0"

_MODULES: Final = {
    "Argument": "server.transforming",
    "Audio": "server.content",
    "Call": "server.middleware",
    "CallNext": "server.middleware",
    "CallResult": "server.middleware",
    "Caps": "contract.tool",
    "Change": "server.client.values",
    "Client": "server.client.client",
    "ClientError": "client.errors",
    "Conflict": "fault.raised",
    "Context": "server.declare.context",
    "DeclarationRefused": "server.declare.refused",
    "Depends": "server.declare.depends",
    "Elicitation": "client.questions",
    "Elicited": "server.declare.questions",
    "Embedded": "server.content",
    "Failure": "fault.failure",
    "Hidden": "server.transforming",
    "Http": "server.client.targets",
    "Image": "server.content",
    "InMemory": "server.testing",
    "Link": "server.content",
    "ListNext": "server.middleware",
    "Listing": "server.middleware",
    "LogMessage": "server.client.values",
    "MemoryClient": "server.testing",
    "NotFound": "fault.raised",
    "Progress": "server.client.values",
    "Refused": "fault.failure",
    "RequestFailed": "client.errors",
    "Result": "server.content",
    "Safety": "contract.safety",
    "Sampled": "server.declare.questions",
    "Sampling": "client.questions",
    "Server": "server.author",
    "Stdio": "server.client.targets",
    "TaskPolicy": "contract.task",
    "Text": "server.content",
    "Tool": "server.client.values",
    "ToolContract": "contract.tool",
    "ToolError": "fault.raised",
    "ToolFailed": "client.errors",
    "ToolResult": "server.client.values",
    "ToolUse": "server.declare.questions",
    "Unavailable": "fault.raised",
    "elicitation": "server.declare.forms",
    "fail": "fault.failure",
    "read_failure": "fault.reading",
    "roots": "server.declare.questions",
    "sampling": "server.declare.questions",
}
"""The module of each public name. A module is imported when its name is first used, so that the command line starts fast."""

__all__ = [
    "Argument",
    "Audio",
    "Call",
    "CallNext",
    "CallResult",
    "Caps",
    "Change",
    "Client",
    "ClientError",
    "Conflict",
    "Context",
    "DeclarationRefused",
    "Depends",
    "Elicitation",
    "Elicited",
    "Embedded",
    "Failure",
    "Hidden",
    "Http",
    "Image",
    "InMemory",
    "Link",
    "ListNext",
    "Listing",
    "LogMessage",
    "MemoryClient",
    "NotFound",
    "Progress",
    "Refused",
    "RequestFailed",
    "Result",
    "Safety",
    "Sampled",
    "Sampling",
    "Server",
    "Stdio",
    "TaskPolicy",
    "Text",
    "Tool",
    "ToolContract",
    "ToolError",
    "ToolFailed",
    "ToolResult",
    "ToolUse",
    "Unavailable",
    "elicitation",
    "fail",
    "read_failure",
    "roots",
    "sampling",
]


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'strictwire' has no attribute {name!r}")
    return getattr(importlib.import_module(f"strictwire.{module}"), name)


def __dir__() -> list[str]:
    """The public names, also those that are not imported yet."""
    return [*__all__, "__version__"]
