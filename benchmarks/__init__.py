"""What strictwire costs, measured beside its peers. `./scripts/bench` runs it."""
