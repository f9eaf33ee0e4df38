"""The aggregator, which verifies submissions, maintains the transparency log, merges sites and publishes the board."""
