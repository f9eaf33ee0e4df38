"""Rules for words that denote the same entity in any context: countries and towns, nationalities, occupations."""

from collections.abc import Iterable

import regex

from agent.redaction.rules.es.word_lists import entries
from agent.redaction.rules.rulebook import Rule


def places() -> tuple[str, ...]:
    """Return regions and towns, as written and in capitals, except for everyday words and names of people."""
    ambiguous = frozenset(entries("ambiguous_places"))
    return _add_capitals(tuple(place for place in entries("places") if place not in ambiguous))


def companies() -> tuple[str, ...]:
    """Return makers of drugs and devices, and public bodies."""
    return entries("companies")


def countries() -> tuple[str, ...]:
    """Return countries, as written and in capitals."""
    return _add_capitals(entries("countries"))


def towns_abroad() -> Rule:
    """Return the rule for a town followed by a country or a state: "(Acme, Springfield, Ohio)", "Lund, Suecia"."""
    names = (*entries("countries"), *entries("states_of_america"))
    town = r"[,;.(] ?(?P<since>\p{Lu}\p{L}{1,30}(?:[ -]\p{Lu}\p{L}{1,30}){0,2})[,.-] ?"
    states = "|".join(state for state in entries("states_of_america") if len(state) == len("CA"))
    pattern = rf"(?<={town})(?:\L<countries>|\L<states_of_america>)(?![\p{{L}}\d])|(?<=\p{{Ll}}, )(?:{states})(?=[);,])"
    return Rule("LOCATION", _list_first_words(names), pattern)


def nationalities() -> Rule:
    """Return the rule for words for the people of a country."""
    stems = [stem for line in entries("nationalities") for stem in line.split()]
    words = {stem + ending for stem in stems for ending in _ENDINGS}
    return Rule(
        "NATIONALITY", " ".join(sorted(words)), r"(?<![\p{L}-])[\p{L}\p{M}]{1,40}(?![\p{L}-])"
    )


_ENDINGS = ("", "o", "a", "e", "s", "os", "as", "es")


def professions() -> Rule:
    """Return the rule for occupations in either gender and number."""
    forms: list[str] = []
    begins: list[str] = []
    endings: tuple[str, ...]
    for entry in sorted(entries("professions"), key=len, reverse=True):
        first, _, rest = entry.partition(" ")
        if first.endswith("o"):
            stem, endings = first[:-1], ("o", "a", "os", "as")
        elif first.endswith("or"):
            stem, endings = first, ("", "a", "s", "as", "es")
        else:
            stem, endings = first, ("", "s", "es")
        form = f"{stem}(?:{'|'.join(endings)})"
        forms.append(f"{form} {rest}" if rest else form)
        begins += [stem + ending for ending in endings]
    return Rule(
        "PROFESSION",
        _list_first_words(begins),
        rf"(?i)(?<![\p{{L}}-])(?:{'|'.join(forms)})(?![\p{{L}}-])",
    )


def _list_first_words(phrases: Iterable[str]) -> str:
    """Return the first words of phrases, in the format of a rule."""
    begins = {
        first.group().lower() for phrase in phrases if (first := regex.match(r"\p{L}+", phrase))
    }
    return " ".join(sorted(begins))


def _add_capitals(written: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*written, *(name.upper() for name in written))))
