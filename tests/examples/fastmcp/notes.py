"""Notes in a SQLite database: `fastmcp run notes.py`, or `python notes.py` for stdio."""

import json
import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from fastmcp import FastMCP
from fastmcp.exceptions import ResourceError, ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

mcp = FastMCP("notes", version="1.0.0", instructions="Search before you add a note.")
DATABASE = os.environ.get("NOTES_DB", "notes.db")
SEARCH = "SELECT * FROM note WHERE (?1 IS NULL OR id = ?1) AND (title LIKE ?2 OR body LIKE ?2) ORDER BY id"

Title = Annotated[str, Field(min_length=1, max_length=80, description="A short name; no two notes have the same")]


class NoteNotFound(Exception):
    """There is no such note."""


@dataclass
class Note:
    id: int
    title: str
    body: str
    changed: datetime


def failure(code: str, message: str, action: str) -> str:
    """A failure that a program can read."""
    return json.dumps({"code": code, "message": message, "action": action})


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
        raise NoteNotFound(failure("NOT_FOUND", f"Not found: note {note_id}", "Search for notes to see their ids."))
    return found[0]


@mcp.tool(annotations=ToolAnnotations(readOnlyHint=False, destructiveHint=False))
def add_note(title: Title, body: Annotated[str, Field(description="The text, in Markdown.")] = "") -> Note:
    """Adds a note."""
    try:
        with closing(connect()) as connection, connection:
            now = datetime.now(UTC).isoformat()
            row = connection.execute("INSERT INTO note (title, body, changed) VALUES (?, ?, ?)", (title, body, now))
    except sqlite3.IntegrityError:
        message = f"A note has this title already: {title}"
        raise ToolError(failure("notes/TITLE_TAKEN", message, "Choose another title.")) from None
    return find_one(row.lastrowid or 0)


@mcp.tool(annotations=ToolAnnotations(readOnlyHint=True, destructiveHint=False))
def search_notes(
    query: Annotated[str, Field(max_length=200, description="The text; all notes if it is empty.")] = "",
    limit: Annotated[int, Field(ge=1, le=100, description="The most notes to return.")] = 20,
) -> list[Note]:
    """Finds notes that contain a text."""
    return find(text=query)[:limit]


@mcp.tool(annotations=ToolAnnotations(readOnlyHint=False, destructiveHint=True))
def delete_note(note_id: int) -> None:
    """Deletes a note for good."""
    try:
        note = find_one(note_id)
    except NoteNotFound as exc:
        raise ToolError(str(exc)) from None
    with closing(connect()) as connection, connection:
        connection.execute("DELETE FROM note WHERE id = ?", (note.id,))


@mcp.resource("notes://{note_id}", mime_type="text/markdown")
def read_note(note_id: int) -> str:
    """One note as Markdown."""
    try:
        note = find_one(note_id)
    except NoteNotFound as exc:
        raise ResourceError(str(exc)) from None
    return f"# {note.title}\n\n{note.body}\n"


@mcp.prompt
def summarise(note_id: int, words: Annotated[int, Field(ge=10, le=500)] = 50) -> str:
    """Asks for a summary of a note."""
    note = find_one(note_id)
    return f"Summarise this note in at most {words} words.\n\n# {note.title}\n\n{note.body}"


if __name__ == "__main__":
    mcp.run()
