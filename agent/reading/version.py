"""The version of the rules by which answers are read."""

# 1: until reasoning was separated in files and imports, JSON answers were read by their keys, and options, numbers,
#    verdicts and queries by the rules of agent/reading. Runs of that time do not record a version.
# 2: until later words could take back an option or a query that was stated before.
# 3: until a repeated prompt, the beginning of another option's text and a list's bare numbers stopped to be answers.
# 4: until objects without a key that names the answer, programs, tables of ratings, boxes, "the latter" and values in
#    another unit were read, and an answer that chooses nothing in the end or breaks off in a list of letters
#    stopped to be one.
# 5: until results, options and queries that stand beside others without a choice, that their own working or a later
#    sentence contradicts, or that a repeated question answers differently, stopped to be answers.
# 6: until a number with another unit, method, working or value beside it stopped to be a result, a rounded value that
#    is stated later took the place of the exact one, and labels of another case and bare zeros stopped to be verdicts.
# 7: until a value, option or verdict with which an answer ends that counts, weighs or begins anew took the place of the
#    first one.
# 8: until a verdict that ends an answer behind a sentence that it weighs, results of another case in brackets, and
#    values that hold only under guesses at a missing input were told from results.
# 9: these rules.
READING_VERSION = 9
"""Increased whenever an answer may be read differently. Stored answers are read again only by `rescore`."""
