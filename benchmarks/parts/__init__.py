"""The parts of the benchmark. Each has `run(effort) -> Found`."""
