"""A server whose tools declare no safety, or one that is not read-only, and one that is. Each call leaves a line in the file
CALLED."""

from __future__ import annotations

import os
from pathlib import Path

from strictwire import Server

server = Server("undeclared", version="1.0.0")
called = Path(os.environ["CALLED"])


def note(name: str) -> str:
    with called.open("a") as file:
        file.write(name + "\n")
    return name


@server.tool()
def send_money(amount: int = 1) -> str:
    """Sends money."""
    return note("send_money")


@server.tool()
def drop_database() -> str:
    """Drops a database."""
    return note("drop_database")


@server.tool(annotations={"readOnlyHint": False, "destructiveHint": True})
def delete_notes() -> str:
    """Deletes notes."""
    return note("delete_notes")


@server.tool(safety="mutating")
def add_note() -> str:
    """Adds a note."""
    return note("add_note")


@server.tool(safety="read-only")
def read_note() -> str:
    """Reads a note."""
    return note("read_note")


if __name__ == "__main__":
    server.run()
