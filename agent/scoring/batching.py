"""How much is scored or judged before it is written to the store."""

# What a kill may cost: so many answers, or so many seconds of them, are asked again.
KEEP_EVERY_ANSWERS = 64


KEEP_EVERY_S = 0.2
