"""Code that packs share: path jail, snapshot paging, text limits. It depends on no tool, transport or pack."""
