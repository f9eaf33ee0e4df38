"""Words that name a kind of thing wherever they stand: countries and towns, peoples, occupations."""

import regex

from agent.redaction.spanish.word_lists import entries


def places() -> tuple[str, ...]:
    """Regions and towns, as written and in capitals, but for those that are everyday words or names of people."""
    return _and_in_capitals(tuple(place for place in entries("places") if place not in _TOO_COMMON))


# "Salt", "Rubí", "Rosario": words that begin sentences, names of people, or both.
_TOO_COMMON = frozenset({"Salt", "Rubí", "Inca", "Marín", "Colonia", "Sada", "Salou", "Faro", "Loja", "Baza", "Pint"
"o", "S"
"u"
"c"
"r"
"e",
    "Ponce", "Salta", "Cabra", "Haro", "Rota", "Concepción", "Rosario", "Fez", "Sofía", "Tolosa", "Zafra"})  # fmt: skip


def companies() -> tuple[str, ...]:
    """Makers of drugs and devices, and public bodies."""
    return entries("companies")


def countries() -> tuple[str, ...]:
    """Countries, as written and in capitals."""
    return _and_in_capitals(entries("countries"))


def towns_abroad() -> str:
    """Match a town that a country or a state follows: "(Acme, Springfield, Ohio)", "Lund, Suecia"."""
    after = "|".join(regex.escape(name, literal_spaces=True) for name in (*entries("countries"), *_STATES))
    town = r"[,;.(] ?\K\p{Lu}\p{L}+(?:[ -]\p{Lu}\p{L}+){0,2}"
    states = "|".join(state for state in _STATES if len(state) == len("CA"))
    return rf"{town}(?=[,.-] ?(?:{after})(?![\p{{L}}\d]))|(?<=\p{{Ll}}, )(?:{states})(?=[);,])"


_STATES = (
    *("California", "Massachusetts", "Texas", "Florida", "Nueva Jersey", "New Jersey", "Minnesota", "Ohio", "Illinois"),
    *("Nueva York", "CA", "NJ", "NY", "TX", "MA", "FL", "IL", "MN", "PA", "WA", "CT", "OH", "Oh"),
)


def nationalities() -> str:
    """Match a word for the people of a country."""
    stems = "|".join(
        sorted((stem for line in entries("nationalities") for stem in line.split()), key=len, reverse=True)
    )
    return rf"(?i)(?<![\p{{L}}-])(?:{stems})(?:[oae]?s?|as|os|es)(?![\p{{L}}-])"


def professions() -> str:
    """Match an occupation, in either gender and number."""
    forms = []
    for entry in sorted(entries("professions"), key=len, reverse=True):
        first, _, rest = entry.partition(" ")
        first = (
            first[:-1] + "[oa]s?"
            if first.endswith("o")
            else first + "a?s?"
            if first.endswith("or")
            else first + "(?:s|es)?"
        )
        forms.append(f"{first} {rest}" if rest else first)
    return rf"(?i)(?<![\p{{L}}-])(?:{'|'.join(forms)})(?![\p{{L}}-])"


def _and_in_capitals(written: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*written, *(name.upper() for name in written))))
