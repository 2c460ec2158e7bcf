"""An endpoint for tests of what happens before one is asked."""

from __future__ import annotations

from strictwire.profiles.endpoint import Deliver, Inbound, Outlet, Reply


class Unasked:
    """Answers nothing."""

    answers_in = ("application/json", "text/event-stream")

    async def serve(self, inbound: Inbound, outlet: Outlet, deliver: Deliver) -> None:
        raise NotImplementedError

    def cancels_on_disconnect(self, inbound: Inbound) -> bool:
        raise NotImplementedError

    def refuse_oversized(self, inbound: Inbound) -> Reply:
        raise NotImplementedError

    def refuse_fault(self, inbound: Inbound) -> Reply:
        raise NotImplementedError

    def end_input(self) -> None:
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError
