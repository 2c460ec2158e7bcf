"""The audit trail: records, hash chain, Merkle tree, signed checkpoints, proofs and verification.

Pure: no files, clock, randomness or threads. `pipeline` creates records and `stores` writes them.
"""
