"""The aggregator: verifies submissions, keeps the transparency log, merges sites, publishes the board."""
