"""The tools of an upstream compared with its lock file."""
