"""The content policy: `rule` the records, `rules` the rule set, `languages` the parsers, `policy` the check itself,
`worker_pool` the processes that run it."""
