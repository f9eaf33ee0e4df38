"""One module a version of the schema, named by number; a released one never changes."""
