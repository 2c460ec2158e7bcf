"""The `requestState` of an upstream: sealed on its way to the client, bound to caller and request, and opened on the way
back, so that the upstream gets exactly the state that it gave.
"""

from __future__ import annotations

from strictwire.canon.json import JsonObject, render
from strictwire.fault.failure import Failure, fail
from strictwire.gateway.links.link import UpstreamRequest
from strictwire.gateway.links.raw_message import replace_at
from strictwire.profiles.mcp.request_state import Sealer
from strictwire.profiles.mcp.targets import Target


class UpstreamStates:
    """Seals and opens the states of one upstream."""

    def __init__(self, sealer: Sealer, upstream: str) -> None:
        self._sealer = sealer
        self._upstream = upstream

    def seal(self, raw: bytes, result: JsonObject, request: UpstreamRequest, target: Target, principal: str) -> bytes:
        """The answer with its state sealed, if it has one."""
        state = result.get("requestState")
        if not isinstance(state, str):
            return raw
        sealed = self._sealer.seal({"upstream": {"state": state}}, self._binding(request.method, target, principal))
        return replace_at(raw, ("result", "requestState"), render(sealed))

    def open(self, request: UpstreamRequest, target: Target, principal: str) -> Failure | None:
        """Put the upstream's own state into the request. STATE_REJECTED: not sealed by us for this caller and request."""
        state = request.params.get("requestState")
        if state is None:
            return None
        binding = self._binding(request.method, target, principal)
        opened = self._sealer.open(state, binding) if isinstance(state, str) else None
        if opened is None:
            return fail("STATE_REJECTED")
        request.raw = replace_at(request.raw, ("params", "requestState"), render(opened["upstream"]["state"]))
        return None

    def _binding(self, method: str, target: Target, principal: str) -> JsonObject:
        return {
            "upstream": self._upstream,
            "method": method,
            "target": target.name,
            "arguments": target.arguments,
            "principal": principal,
        }
