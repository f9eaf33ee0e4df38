"""The aggregator's HTTP API: routes, responses, limits and the server that runs them."""
