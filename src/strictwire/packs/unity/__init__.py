"""The Unity pack: EditorMCP v0.1 from the files of a Unity project. No Editor runs, and the project is never written to."""
