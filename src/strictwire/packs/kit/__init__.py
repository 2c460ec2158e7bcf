"""What packs share: a path jail, a file watch, snapshot paging, text limits. Nothing here knows a tool, a transport or a pack."""
