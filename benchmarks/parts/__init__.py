"""The parts of the benchmark. Each module has `run(effort) -> PartResult`."""
