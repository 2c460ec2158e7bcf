"""An innocent client: `python innocent.py JSON` posts one request again and again, each on a connection of its own.

A process of its own, so that the work of the attacker does not count. On the line `take` it prints the longest answer time
in seconds, the number of answers and the number of refusals since the last `take`; on `wait` it prints null. Both wait for
a request that begins after the line.
"""

from __future__ import annotations

import http.client
import json
import sys
import threading
import time

SECONDS = 30.0
"""A request that takes longer counts as refused after this time."""
PAUSE = 0.02
ACCEPT = "application/json, text/event-stream"


class Client:
    """Measures answer times in a thread."""

    def __init__(self, port: int, body: str, headers: dict[str, str]) -> None:
        self._request = (port, body, {**headers, "Content-Type": "application/json", "Accept": ACCEPT})
        self._changed = threading.Condition()
        self._rounds = 0
        self._seen: list[tuple[float, bool]] = []

    def run(self) -> None:
        """Post for ever."""
        while True:
            began = time.monotonic()
            is_served = self._is_served()
            with self._changed:
                self._seen.append((time.monotonic() - began, is_served))
                self._rounds += 1
                self._changed.notify_all()
            time.sleep(PAUSE)

    def wait(self) -> None:
        """Wait for a request that begins from now on."""
        with self._changed:
            wanted = self._rounds + 2
            self._changed.wait_for(lambda: self._rounds >= wanted, 3 * SECONDS)

    def take(self) -> tuple[float, int, int]:
        """Wait, and empty the list."""
        self.wait()
        with self._changed:
            seen, self._seen = self._seen, []
        worst = max((seconds for seconds, _ in seen), default=3 * SECONDS)
        return worst, len(seen), sum(not is_served for _, is_served in seen)

    def _is_served(self) -> bool:
        port, body, headers = self._request
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
        try:
            connection.request("POST", "/mcp", body, headers)
            response = connection.getresponse()
            answer = json.loads(response.read())
            return response.status == 200 and "result" in answer and not answer["result"].get("isError")
        except (OSError, http.client.HTTPException, ValueError):
            return False
        finally:
            connection.close()


def main() -> None:
    client = Client(**json.loads(sys.argv[1]))
    threading.Thread(target=client.run, daemon=True).start()
    for line in sys.stdin:
        print(json.dumps(client.take() if line == "take\n" else client.wait()), flush=True)


if __name__ == "__main__":
    main()
