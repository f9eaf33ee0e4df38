"""Evaluation of redaction engines: measures, benchmarks of models, and fine-tuning."""
