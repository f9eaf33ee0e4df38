"""Ask juries about stored answers."""
