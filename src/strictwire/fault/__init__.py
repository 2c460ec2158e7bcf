"""What can go wrong, as one value, and how each contract shows it. Pure. Above: everything. Below: `canon`."""
