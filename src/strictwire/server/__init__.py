"""The author API, and the composition root: builds a server or a guard from its parts, runs it and closes it."""
