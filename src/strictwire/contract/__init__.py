"""What a tool promises, and whether a value keeps the promise. Pure. Above: `audit`, `check`, `pipeline`. Below: `fault`."""
