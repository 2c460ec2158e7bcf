"""The two tools on strictwire over stdio, with audit records rendered, chained and kept in memory on the event loop.

Used to count instructions: the commit thread of the trail on disk would make counts depend on timing.
"""

from __future__ import annotations

import asyncio

from ours import make_server

from strictwire.server.compose import open_runtime
from strictwire.settings.read import read_settings
from strictwire.stores.memory.recorder import MemoryRecorder
from strictwire.transport.stdio import serve_stdio


async def main() -> None:
    settings = read_settings(file=None)
    recorder = MemoryRecorder(keeps_values=False)  # like the trail on disk, which holds their digests
    async with open_runtime(make_server(), settings, recorder=recorder) as runtime:
        max_line = settings.server.max_request_bytes
        await serve_stdio(runtime.endpoint("mcp"), runtime.batch, caller=runtime.caller, max_line=max_line)


if __name__ == "__main__":
    asyncio.run(main())
