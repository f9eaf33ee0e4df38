"""The codes that a cell can hold instead of a value. Values are 0 to 1000, so codes are negative."""

SUPPRESSED = -1  # withheld
NOT_RUN = -2
LOW_CODED = -3  # a coded figure: certainly fewer successes than the policy's min_events
HIGH_CODED = -4  # a coded figure: certainly fewer failures than min_events
