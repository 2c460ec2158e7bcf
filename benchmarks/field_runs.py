"""The runs on public servers, each with a page of its own: says on each page how many servers the others cover."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

DOCS: Final = Path(__file__).parents[1] / "docs"
RUNS: Final = {"field-report.md": "the rules", "field-peers.md": "the other tools", "field-probe.md": "the probes"}
_SERVERS: Final = re.compile(r"\bon (\d+) public servers")


def run_line(page: str) -> str:
    """Which run a page shows, and how many servers the runs of the other pages cover, as those pages say."""
    others = " and ".join(
        f"that of {what} ([{other}]({other})) covers {_servers(other)}" for other, what in RUNS.items() if other != page
    )
    return (
        f"This is the run of {RUNS[page]}; {others}. The runs differ in their servers: compare no figures across the pages."
    )


def _servers(page: str) -> str:
    found = _SERVERS.search((DOCS / page).read_text("utf-8"))
    if found is None:
        raise ValueError(f"docs/{page} does not say how many servers it covers")
    return f"{found[1]} servers"
