"""Notes in a SQLite database: `strictwire dev notes:server`, or `python notes.py` for stdio."""

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from msgspec import Meta

from strictwire import Conflict, NotFound, Server

server = Server("notes", version="1.0.0", instructions="Search before you add a note.")
DATABASE = os.environ.get("NOTES_DB", "notes.db")
SEARCH = "SELECT * FROM note WHERE (?1 IS NULL OR id = ?1) AND (title LIKE ?2 OR body LIKE ?2) ORDER BY id"

Title = Annotated[str, Meta(min_length=1, max_length=80, description="A short name; no two notes have the same")]


class TitleTaken(
    Conflict, code="notes/TITLE_TAKEN", meaning="A note has this title already.", action="Choose another title."
):
    """Two notes cannot have one title."""


@dataclass
class Note:
    id: int
    title: str
    body: str
    changed: datetime


def connect() -> sqlite3.Connection:
    connection = sqlite3.connect(DATABASE)
    connection.execute(
        "CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, title TEXT UNIQUE, body TEXT, changed TEXT)"
    )
    return connection


def find(note_id: int | None = None, text: str = "") -> list[Note]:
    with closing(connect()) as connection:
        rows = connection.execute(SEARCH, (note_id, f"%{text}%"))
        return [Note(key, title, body, datetime.fromisoformat(changed)) for key, title, body, changed in rows]


def find_one(note_id: int) -> Note:
    found = find(note_id)
    if not found:
        raise NotFound(f"note {note_id}", action="Search for notes to see their ids.")
    return found[0]


@server.tool(safety="mutating", raises=[TitleTaken])
def add_note(title: Title, body: str = "") -> Note:
    """Adds a note.

    Args:
        body: The text, in Markdown.
    """
    try:
        with closing(connect()) as connection, connection:
            now = datetime.now(UTC).isoformat()
            row = connection.execute("INSERT INTO note (title, body, changed) VALUES (?, ?, ?)", (title, body, now))
    except sqlite3.IntegrityError:
        raise TitleTaken(title) from None
    return find_one(row.lastrowid or 0)


@server.tool(safety="read-only")
def search_notes(
    query: Annotated[str, Meta(max_length=200)] = "", limit: Annotated[int, Meta(ge=1, le=100)] = 20
) -> list[Note]:
    """Finds notes that contain a text.

    Args:
        query: The text; all notes if it is empty.
        limit: The most notes to return.
    """
    return find(text=query)[:limit]


@server.tool(safety="destructive", raises=[NotFound])
def delete_note(note_id: int) -> None:
    """Deletes a note for good."""
    note = find_one(note_id)
    with closing(connect()) as connection, connection:
        connection.execute("DELETE FROM note WHERE id = ?", (note.id,))
    server.resource_changed(f"notes://{note.id}")


@server.resource("notes://{note_id}", mime_type="text/markdown")
def read_note(note_id: int) -> str:
    """One note as Markdown."""
    note = find_one(note_id)
    return f"# {note.title}\n\n{note.body}\n"


@server.prompt
def summarise(note_id: int, words: Annotated[int, Meta(ge=10, le=500)] = 50) -> str:
    """Asks for a summary of a note."""
    note = find_one(note_id)
    return f"Summarise this note in at most {words} words.\n\n# {note.title}\n\n{note.body}"


if __name__ == "__main__":
    server.run()
