"""Transition, to be deleted with `Recorder.record` and `Recorder.submit`: commits Event values through `append`."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from strictwire.audit.event import Event, Values, render_body
from strictwire.audit.recorder import Done
from strictwire.pipeline.soon import soon_of


class EventAdapter:
    """The base class of the three recorders until the pipeline renders and commits its records itself."""

    values = Values.DIGESTED
    _gathered: Any = ()

    async def record(self: Any, event: Event) -> Any:
        """Commit one event by itself."""
        kept: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.append([render_body(event, self.values)], lambda failure: None if kept.done() else kept.set_result(failure))
        return await kept

    def submit(self, event: Event, done: Done) -> None:
        """Commit the events of one turn of the event loop together."""
        if not self._gathered:
            soon_of(asyncio.get_running_loop()).call(self._commit_events)
        self._gathered = (*self._gathered, (render_body(event, self.values), done))

    def _commit_events(self: Any) -> None:
        gathered, self._gathered, soon = self._gathered, (), soon_of(asyncio.get_running_loop())

        def tell(failure: Any) -> None:
            with soon:
                for _, done in gathered:
                    soon.call(partial(done, failure))

        self.append([body for body, _ in gathered], tell)
