"""What finds identifiers: rules, the named-entity network, Presidio's recognisers, patterns of a policy."""
