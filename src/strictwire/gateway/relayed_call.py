"""A request of a client on its way to an upstream, and a call while it passes through the stages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from strictwire.canon.json import JsonValue
from strictwire.fault.failure import Failure
from strictwire.gateway.links.link import Link, UpstreamRequest
from strictwire.gateway.links.notifications import StreamListener
from strictwire.gateway.tool_list import ListedTool, ToolList
from strictwire.profiles.endpoint import Reply
from strictwire.profiles.mcp.exchange import Exchange
from strictwire.profiles.mcp.request_meta import RequestMeta
from strictwire.profiles.mcp.targets import Target
from strictwire.profiles.quiet_context import QuietContext


class ClientRequest(UpstreamRequest, kw_only=True):
    """A request of a client."""

    exchange: Exchange
    arrived: float
    """The clock's time at which the request came in."""
    meta: RequestMeta | None = None
    """What a request of the stateless era states about itself; None in a legacy session."""


class ClientLink(msgspec.Struct, frozen=True, kw_only=True):
    """A link to an upstream, as one request of a client uses it."""

    link: Link
    tools: ToolList
    """The tools as this client sees them."""
    listener: StreamListener
    """Receives what the upstream sends before the answer."""
    capabilities: Mapping[str, JsonValue]
    """What the client declared. An upstream may ask the client for nothing else."""


class RelayedCall(QuietContext, kw_only=True):
    """A call on its way to an upstream. As the context of the call it travels through the stages of the pipeline."""

    request: ClientRequest
    target: Target
    via: ClientLink | None = None
    """None for a call that is refused before it has a link."""
    tool: ListedTool | None = None
    """The tool as the upstream lists it; None for prompts, resources and completions."""
    invalid: Failure | None = None
    """Why the arguments do not conform to the tool's input schema."""
    violation: Failure | None = None
    """How the result breaks the contract."""
    reply: Reply | None = None
    """The upstream's answer as the client gets it; None if the client gets a failure of the guard."""


Relayed: TypeAlias = Reply | Failure | None
"""The outcome of relaying a request: its answer, a failure, or None where a call has answered the exchange itself."""
