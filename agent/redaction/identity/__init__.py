"""The identity table: known values about the people of a record, searched for in all of its texts."""
