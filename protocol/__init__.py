"""The formats that sites and the aggregator exchange: envelope, statements, registry, Merkle log, receipts.

Pure: no clock, disk, network or randomness. Imports neither agent nor aggregator.
"""
