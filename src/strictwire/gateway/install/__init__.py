"""Client configurations with the guard in front of each server."""
