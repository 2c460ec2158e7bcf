"""The tools of EditorMCP v0.1, one file for each category. A tool is a function from a call to a Reply."""
