"""The word lists of Spanish: names, places, countries, occupations, and everyday words that look like names."""

from functools import cache

from agent.redaction.rules.word_lists import read_entries, read_words


@cache
def words(name: str) -> frozenset[str]:
    """Return a list in lower case, one word an entry, each with and without its accents."""
    listed = read_words("es", name)
    return listed | {word.translate(_PLAIN) for word in listed}


# Accents are often left out: "garcia", "maria".
_PLAIN = str.maketrans("áéíóúü", "aeiouu")


@cache
def entries(name: str) -> tuple[str, ...]:
    """Return a list that has one entry, of one word or more, a line; as written."""
    return read_entries("es", name)


def everyday() -> frozenset[str]:
    """Words, in lower case, that identify nobody when they stand alone."""
    return words("everyday_words")


def people() -> frozenset[str]:
    """Words, in lower case, for a patient whom they do not name: "varón", "mujer", "paciente"."""
    return frozenset(entries("patients"))
