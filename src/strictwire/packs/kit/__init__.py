"""What packs share: a path jail, a file watch, snapshot paging, text limits. It knows no tool, no transport and no pack."""
