"""How far a jury agrees with clinicians: blinded samples out, ratings in, agreement with intervals."""
