"""Forecasts of the requests, tokens, time and cost of a run."""
