"""A Unity project on disk: where it is, its assets, GUIDs and packages, and an index that survives restarts.

Nothing here writes to the project. Files are read through one path jail, whose root is the project or the repository
around it, so that local packages beside the project can be read and nothing else can.
"""
