"""Clinical shorthand for the English generator, as in notes of nurses and of triage, hasty questions and dictation.

Each shape with people, places and numbers in it has a harmless counterpart: a number at the beginning of a line is an
hour, a word with a capital a device. Templates are written as in `english`.
"""

from benchmarks.redaction_training.lists import read_entries

# People whose name stands for what they described, without a word such as "sign" behind it.
EPONYMS = read_entries("words/english/eponyms")

# Words behind them, and behind letters and brands.
EPONYM_ENDS = read_entries("words/english/eponym_ends")

# Drugs, vaccines, devices, dressings, instruments, tests and software as they are sold.
BRANDS = read_entries("words/english/brands")

# Tests, tools and grades with what stands behind them.
SCALES = read_entries("words/english/scales")
SCALE_VALUES = read_entries("words/english/scale_values")

# Written by hand and in haste; with letters that stand for something.
SHORT_WORDS = read_entries("words/english/short_words")
CAPITALS = read_entries("words/english/capitals")
LANGUAGES = read_entries("words/english/languages")
TRIALS = read_entries("words/english/trials")

# Health systems and hospitals as people say them, without a word that tells what they are.
SYSTEMS = read_entries("words/english/systems")

# A name by which a person is called although it is a month, a word or a thing.
WORD_NAMES = read_entries("words/english/word_names")
BELONGING = read_entries("words/english/belonging")

# With people, places and numbers.
CLINICAL = read_entries("templates/english/shorthand_clinical")

# In words without capitals, as a machine writes down what is said: all of it is written small.
DICTATION = read_entries("templates/english/dictation")

# Of the same shapes, without anybody in it.
HARMLESS = read_entries("templates/english/shorthand_harmless")
