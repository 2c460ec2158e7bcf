"""Benchmarks of strictwire and its peers. `./scripts/bench` runs them."""
