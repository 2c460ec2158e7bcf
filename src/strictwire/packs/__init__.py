"""Tool packs: real servers that ship with strictwire. Each is a folder; none sees the runtime or another pack."""
