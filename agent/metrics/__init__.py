"""One module a metric family; pure functions of stored answers."""
