"""The `requestState` of an upstream leaves under our seal, bound to caller and request, and comes back to it unchanged."""

from __future__ import annotations

from strictwire.canon.json import JsonObject, render
from strictwire.fault.failure import Failure, fail
from strictwire.gateway.link import Question
from strictwire.gateway.rewrite import replace_at
from strictwire.profiles.mcp.exchange import Exchange
from strictwire.profiles.mcp.request_state import Sealer
from strictwire.profiles.mcp.targets import Target


class States:
    """Seals the states of one upstream."""

    def __init__(self, sealer: Sealer, upstream: str) -> None:
        self._sealer = sealer
        self._upstream = upstream

    def seal(self, raw: bytes, result: JsonObject, called: Target, exchange: Exchange) -> bytes:
        """The answer with its state sealed, if it asks something and has one."""
        state = result.get("requestState")
        if result.get("resultType") != "input_required" or not isinstance(state, str):
            return raw
        sealed = self._sealer.seal({"upstream": {"state": state}}, self._binding(called, exchange))
        return replace_at(raw, ("result", "requestState"), render(sealed))

    def find_rejection(self, question: Question, called: Target, exchange: Exchange) -> Failure | None:
        """STATE_REJECTED: not sealed by us for this caller and request. Otherwise the question has the upstream's own."""
        state = question.params.get("requestState")
        if state is None:
            return None
        opened = self._sealer.open(state, self._binding(called, exchange)) if isinstance(state, str) else None
        if opened is None:
            return fail("STATE_REJECTED")
        question.raw = replace_at(question.raw, ("params", "requestState"), render(opened["upstream"]["state"]))
        return None

    def _binding(self, called: Target, exchange: Exchange) -> JsonObject:
        return {
            "upstream": self._upstream,
            "method": exchange.request.method,
            "target": called.name,
            "arguments": called.arguments,
            "principal": exchange.inbound.caller.principal,
        }
