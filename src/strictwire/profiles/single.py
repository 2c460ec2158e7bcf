"""What `envelope/v1` and `editor/0.1` share: one request, one answer, no stream and no session. Below: `pipeline`.

A tool is offered in these profiles if its answer can be the object that they promise (V6, E3) and if it asks nothing of
the client; any other tool is unknown here, in lists and in calls alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue, render
from strictwire.contract.registry import Registry
from strictwire.contract.tool import ToolContract
from strictwire.fault.dialects import http as http_dialect
from strictwire.fault.failure import Facts, Failure, fail
from strictwire.pipeline.call import Call, Done, Kind, RunningContext
from strictwire.pipeline.catalog import Catalog
from strictwire.profiles.endpoint import Inbound, Reply

NULL: Final = b"null"
"""The id of an answer to a message whose own could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """An answer as bytes, with its HTTP status and what the records need to know of it."""

    body: bytes
    status: int = 200
    envelope: JsonValue = None
    """The error as it is sent; None for a success."""
    failure: Failure | None = None

    def as_reply(self) -> Reply:
        """What the transport sends."""
        return Reply(body=self.body, status=self.status)


def write_result(request_id: bytes, result: bytes) -> Sent:
    """An answer around a result. The id is JSON text already."""
    return Sent(body=b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (request_id, result))


def write_error(request_id: bytes, error: JsonObject, failure: Failure, *, status: int) -> Sent:
    """A failed answer. The id is JSON text already, `NULL` where none could be read."""
    body = b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (request_id, render(error))
    return Sent(body=body, status=status, envelope=error, failure=failure)


def refuse_verb() -> Reply:
    """GET and the rest: there is no message to answer, so this is a problem of HTTP."""
    failure = fail("HTTP_METHOD_DENIED")
    return Reply(
        body=render(http_dialect.render(failure, Facts())),
        status=http_dialect.status_of(failure),
        headers=(("Content-Type", http_dialect.MEDIA_TYPE), *http_dialect.headers_of(failure).items()),
    )


def is_offered(tool: ToolContract) -> bool:
    """Whether a tool can be served here; see the module."""
    answers_object = tool.output_schema is None or tool.output_schema.get("type") == "object"
    return answers_object and not tool.capabilities


def find_tool(registry: Registry, name: str) -> ToolContract | None:
    """The tool of that name, if it is offered here."""
    tool = registry.tools.get(name)
    return tool if tool is not None and is_offered(tool) else None


def list_tools(registry: Registry) -> Sequence[ToolContract]:
    """The tools that are offered here, by name."""
    return sorted(filter(is_offered, registry.tools.values()), key=lambda tool: tool.name)


async def list_for(catalog: Catalog, inbound: Inbound, profile: str) -> Sequence[ToolContract] | Failure:
    """The tools that a caller sees."""
    tools = list_tools(catalog.offers.registry)
    return await catalog.entries_for(inbound.caller, "tools/list", tools, revision=profile, transport=inbound.transport)


def write_output(done: Done) -> bytes:
    """What a tool answered, as an object: its structured content, or its content items under `content`."""
    if done.structured and isinstance(done.value, dict):
        return done.raw
    items = list(done.content)
    if done.structured and not items:
        items = [{"type": "text", "text": done.raw.decode()}]
    return render({"content": items})


def make_call(
    tool: str, arguments: JsonObject, *, inbound: Inbound, profile: str, method: str, context: RunningContext
) -> Call:
    """The call of a tool."""
    return Call(
        kind=Kind.TOOL,
        target=tool,
        arguments=arguments,
        caller=inbound.caller,
        transport=inbound.transport,
        profile=profile,
        method=method,
        revision=profile,
        context=context,
    )
