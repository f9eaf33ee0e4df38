"""Read benchmarks, run entries and model deployments."""
