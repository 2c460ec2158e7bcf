"""How the guard reaches one upstream: links over stdio and HTTP, raw messages, health and restarts."""
