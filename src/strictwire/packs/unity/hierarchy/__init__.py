"""GameObject trees of scenes and prefabs: nested prefabs, variants, overrides, additions and removals resolved.

Nothing here reads files. Prefabs are handed in by their GUIDs through `sources.Sources`.
"""
