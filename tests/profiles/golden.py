"""The golden run log of `envelope/v1`: the same requests over both transports, with time and ids fixed.

`python -m tests.profiles.golden` writes it anew; look at the difference before keeping it.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from strictwire.canon.json import render
from strictwire.pipeline.clock import deterministic_clock
from strictwire.profiles.envelope_v1 import ROUTE, EnvelopeEndpoint
from strictwire.profiles.runlog import Ids
from strictwire.stores.files.run_log import FileRunLog
from tests.profiles.wires import open_bench, over_http, over_stdio

GOLDEN = Path(__file__).parents[1] / "unit" / "fixtures" / "envelope_validation.golden.jsonl"
RESPONSE = "envelope-response-v1"


def _request(number: int, method: str, params: object) -> bytes:
    request_id = f"6f1c1f0e-0000-4000-8000-{number:012d}"
    return render({"id": request_id, "jsonrpc": "2.0", "method": method, "params": params})


REQUESTS = (
    _request(1, "tools/call", {"tool": "fixture.echo", "input": {"text": "hi"}}),
    _request(2, "tools/list", {}),
    _request(3, "tools/call", {"tool": "fixture.echo", "input": {"text": 1}}),
    _request(4, "tools/call", {"tool": "fixture.none", "input": {}}),
    _request(5, "tools/call", {"tool": "fixture.crash", "input": {}}),
    _request(6, "no/such", {}),
    b'{"id":"6f1c1f0e-0000-4000-8000-000000000007","jsonrpc":"2.0","params":{}}',
    _request(8, "tools/call", "text"),
    b'{"id":7}',
    b"not json",
)
"""One of each ending, and the ways in which a message is no request."""


async def record(root: Path) -> Path:
    """Send the requests over HTTP and then over stdio; the file of that run."""
    clock = deterministic_clock()
    log = FileRunLog(root, now=clock.now)
    async with open_bench(clock) as bench:
        endpoint = EnvelopeEndpoint(bench.catalog, bench.pipeline, ids=Ids.DETERMINISTIC, log=log)
        async with over_http(endpoint, RESPONSE, path=ROUTE) as http:
            for raw in REQUESTS:
                await http.ask(raw)
        async with over_stdio(endpoint, RESPONSE) as stdio:
            for raw in REQUESTS:
                await stdio.ask(raw)
    log.close()
    assert log.path is not None
    return log.path


def main() -> None:
    """Write the golden file."""
    with tempfile.TemporaryDirectory() as folder:
        GOLDEN.write_bytes(asyncio.run(record(Path(folder))).read_bytes())


if __name__ == "__main__":
    main()
