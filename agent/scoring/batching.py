"""Limits on the work that is scored or judged before it is written to the store."""

# A killed process loses at most this many answers, or the answers of this many seconds, and must ask again for them.
KEEP_EVERY_ANSWERS = 64
KEEP_EVERY_S = 0.2
