"""Code that packs share: path jail, file watch, snapshot paging, text limits. It depends on no tool, transport or pack."""
