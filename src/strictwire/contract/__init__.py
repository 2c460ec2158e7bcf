"""Tool contracts: schemas, limits and fingerprints, and the validation of values. Pure.

Above: `audit`, `check`, `pipeline`. Below: `fault`.
"""
