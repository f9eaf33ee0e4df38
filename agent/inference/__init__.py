"""Asking model servers: one OpenAI-compatible client, a capability probe, and the reference baselines.

Nothing here reads a dataset, a score or a store. `client.ask_all` turns requests into responses or failures,
`probe.probe` finds out what a server really honours, `baselines` serves the floors of the board.
"""
