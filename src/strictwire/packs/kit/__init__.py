"""What packs share: a path jail, snapshot paging, text limits. Nothing here knows a tool, a transport or a pack."""
