"""strictwire: the contract layer for MCP (Model Context Protocol)."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from strictwire.contract.safety import Safety
    from strictwire.contract.tool import Caps, ToolContract
    from strictwire.fault.failure import Failure, Refused, fail
    from strictwire.fault.raised import Conflict, NotFound, ToolError, Unavailable
    from strictwire.fault.reading import read_failure
    from strictwire.server.author import Server
    from strictwire.server.content import Audio, Embedded, Image, Link, Result, Text
    from strictwire.server.context import Context, Elicited, elicitation, roots, sampling
    from strictwire.server.declare.refused import DeclarationRefused
    from strictwire.server.testing import MemoryClient

__version__ = "0.1.0"

_MODULES: Final = {
    "Audio": "server.content",
    "Caps": "contract.tool",
    "Conflict": "fault.raised",
    "Context": "server.context",
    "DeclarationRefused": "server.declare.refused",
    "Elicited": "server.context",
    "Embedded": "server.content",
    "Failure": "fault.failure",
    "Image": "server.content",
    "Link": "server.content",
    "MemoryClient": "server.testing",
    "NotFound": "fault.raised",
    "Refused": "fault.failure",
    "Result": "server.content",
    "Safety": "contract.safety",
    "Server": "server.author",
    "Text": "server.content",
    "ToolContract": "contract.tool",
    "ToolError": "fault.raised",
    "Unavailable": "fault.raised",
    "elicitation": "server.context",
    "fail": "fault.failure",
    "read_failure": "fault.reading",
    "roots": "server.context",
    "sampling": "server.context",
}
"""The module of each public name. A module is imported when its name is first used, so that the command line starts fast."""

__all__ = [
    "Audio",
    "Caps",
    "Conflict",
    "Context",
    "DeclarationRefused",
    "Elicited",
    "Embedded",
    "Failure",
    "Image",
    "Link",
    "MemoryClient",
    "NotFound",
    "Refused",
    "Result",
    "Safety",
    "Server",
    "Text",
    "ToolContract",
    "ToolError",
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
