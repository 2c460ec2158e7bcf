"""What content a workspace does not take: `rule` the records, `rules` the set, `languages` the parsers, `judge` the run."""
