"""Records that are committed together, and the answers that wait for them.

    calls add records -> the batch ends -> the recorder commits all records as one -> the answers leave as one write

A transport opens the batch around all messages of one read (`with batch:`). Outside such a block the batch ends in the next
turn of the event loop, so calls that end in the same turn share a commit too. The composition root creates one object for
each runtime and passes it to transports and pipeline.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from strictwire.audit.recorder import Done, Recorder
from strictwire.fault.failure import Failure

Send: TypeAlias = Callable[[], None]
"""Writes the answers that a transport has gathered."""

log = logging.getLogger("strictwire.batch")


class WriteBatch:
    """The current batch of one runtime. All methods run on its event loop."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._loop = asyncio.get_running_loop()
        self._bodies: list[bytes] = []
        self._dones: list[Done] = []
        """One for each body."""
        self._size = 0
        """Bytes of the answers that wait for those records."""
        self._sends: list[Send] = []
        self.waiting_bytes = 0
        """Bytes of all answers that wait for a record: a transport that reads on regardless would fill the memory."""
        self._open_blocks = 0
        self._scheduled = False

    def __enter__(self) -> None:
        """Collect records and answers until the end of the block."""
        self._open_blocks += 1

    def __exit__(self, *_exc: object) -> None:
        """End the batch."""
        self._open_blocks -= 1
        if not self._open_blocks:
            self.flush()

    def add_record(self, body: bytes, done: Done, *, answer_bytes: int = 0) -> None:
        """Commit a record at the end of the batch; then call `done`, which lets an answer of that size leave."""
        self._bodies.append(body)
        self._dones.append(done)
        self._size += answer_bytes
        self.waiting_bytes += answer_bytes
        if not self._open_blocks and not self._scheduled:
            self._schedule()

    def add_send(self, send: Send) -> None:
        """Call `send` once at the end of the batch, after `done` was called for each of its records."""
        self._sends.append(send)
        if not self._open_blocks and not self._scheduled:
            self._schedule()

    def _schedule(self) -> None:
        self._scheduled = True
        self._loop.call_soon(self.flush)

    def flush(self) -> None:
        """End the batch now."""
        self._scheduled = False
        if self._bodies:
            bodies, self._bodies = self._bodies, []
            dones, self._dones = self._dones, []
            size, self._size = self._size, 0
            self._recorder.append(bodies, partial(self._settle, dones, size))
        if self._sends:
            self._send()

    def _settle(self, dones: list[Done], size: int, failure: Failure | None) -> None:
        """The records are durable, or could not be kept: call `done` for each, then write the answers."""
        self.waiting_bytes -= size
        self._open_blocks += 1
        for done in dones:
            try:
                done(failure)
            except Exception:  # a bug of ours, which must not block the other answers of the batch
                log.exception("an answer was lost")
        self._open_blocks -= 1
        if self._open_blocks:
            return
        if self._sends:
            self._send()
        if self._bodies and not self._scheduled:  # sending an answer may have started another call
            self._schedule()

    def _send(self) -> None:
        sends, self._sends = self._sends, []
        for send in sends:
            send()
