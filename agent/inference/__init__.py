"""Send requests to model servers: an OpenAI-compatible client, the capability probe and the reference baselines.

No module here reads datasets, scores or the store. `client.ask_all` turns requests into responses or failures,
`probe.probe` determines which features a server really honours, and `baselines` serves the reference baselines.
"""
