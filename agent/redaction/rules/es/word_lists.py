"""The Spanish word lists: names, places, countries, occupations, and everyday words that look like names."""

from functools import cache

from agent.redaction.rules.word_lists import read_entries, read_words


@cache
def words(name: str) -> frozenset[str]:
    """Return the single words of a list in lower case, each both with and without its accents."""
    listed = read_words("es", name)
    return listed | {word.translate(_PLAIN) for word in listed}


# Accents are often left out: "garcia", "maria".
_PLAIN = str.maketrans("áéíóúü", "aeiouu")


@cache
def entries(name: str) -> tuple[str, ...]:
    """Return the entries of a list, one per line, as written."""
    return read_entries("es", name)


def everyday() -> frozenset[str]:
    """Return the lower-case words that do not identify a person on their own."""
    return words("everyday_words")


def people() -> frozenset[str]:
    """Return lower-case words for a patient that are not names: "varón", "mujer", "paciente"."""
    return frozenset(entries("patients"))
