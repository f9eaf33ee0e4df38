"""The codes that stand for a value in a cell. Values themselves are 0 to 1000, so codes are negative."""

SUPPRESSED = -1  # withheld
NOT_RUN = -2
LOW_CODED = -3  # surely fewer successes than the policy's min_events
HIGH_CODED = -4  # surely fewer failures
