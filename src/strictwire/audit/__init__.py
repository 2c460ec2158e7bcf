"""What an audit trail says and how it is proved: records, hash chain, Merkle tree, signed checkpoints, verification.

Pure: no files, clock, randomness or threads. Above: `pipeline` makes records, `stores` keeps them. Below: `fault`, `canon`.
"""
