"""GameObject trees of scenes and prefabs: nested prefabs, variants, overrides, additions and removals resolved.

Nothing here reads files. The caller provides prefabs by GUID through `sources.Sources`.
"""
