"""From LSP JSON to the members of an answer: normalise, filter, order, name, summarise. Pure, no engine and no disk."""
