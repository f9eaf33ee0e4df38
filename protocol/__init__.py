"""What crosses the wall, and nothing else: envelope, statements, registry, Merkle log, receipts.

Pure: no clock, disk, network or randomness. Imports neither agent nor aggregator.
"""
