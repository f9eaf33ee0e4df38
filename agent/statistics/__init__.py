"""Confidence intervals, comparisons, agreement and ranks. Pure: no clock, disk, network or unseeded randomness."""
