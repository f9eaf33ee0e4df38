"""OpenAI-compatible client, capability probe, reference baselines."""
