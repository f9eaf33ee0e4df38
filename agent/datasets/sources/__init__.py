"""Readers of published benchmarks, one module each."""
