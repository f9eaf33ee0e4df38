"""Reads benchmarks, run entries and model deployments."""
