"""The HTTP face of the aggregator: routes, answers, limits and the server that runs them."""
