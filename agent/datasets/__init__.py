"""Read a hospital's files as instances, and check digests and access."""
