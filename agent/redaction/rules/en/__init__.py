"""English rules: patterns for every class of identifier, and names detected by their form and context."""

from presidio_analyzer import EntityRecognizer

from agent.redaction.deadline import Deadline
from agent.redaction.rules.en import (
    contacts,
    dates,
    hasty_places,
    names,
    numbers,
    opening_names,
    organisations,
    people,
    places,
    signatures,
    small_letter_places,
    small_letters,
)
from agent.redaction.rules.en.ages_after_names import find_ages_after_names
from agent.redaction.rules.en.bare_dates import find_bare_dates
from agent.redaction.rules.en.institutions import find_institutions
from agent.redaction.rules.en.names import everyday, name_findings, words
from agent.redaction.rules.en.ordinal_days import find_ordinal_days
from agent.redaction.rules.en.unknown import find_unknown
from agent.redaction.rules.en.unlisted_names import find_unlisted_names
from agent.redaction.rules.en.vocabulary import is_unlisted
from agent.redaction.rules.rulebook import Rulebook

__all__ = ["everyday", "is_unlisted", "recognizers"]

RULES = (
    *dates.RULES,
    *numbers.RULES,
    *contacts.RULES,
    *places.RULES,
    *organisations.RULES,
    *people.RULES,
    *names.RULES,
)


def recognizers(deadline: Deadline) -> list[EntityRecognizer]:
    """Build the recognisers of English."""
    for name in ("given_names", "surnames", "everyday_words", "medical_words", "function_words"):
        words(name)  # read once, at start
    return [
        Rulebook(
            "en",
            RULES,
            deadline,
            phrases={"LOCATION": words("places"), "FACILITY": words("facilities")},
            unless=places.TERM_AFTER_A_PLACE,
            finders=[
                (frozenset({"NAME"}), name_findings),
                (frozenset({"NAME", "LOCATION", "FACILITY"}), small_letters.find_in_small_letters),
                (frozenset({"NAME", "LOCATION"}), find_unlisted_names),
                (frozenset({"NAME"}), opening_names.find_opening_names),
                (frozenset({"NAME", "ID"}), signatures.find_signatures),
                (frozenset({"DATE"}), find_bare_dates),
                (frozenset({"DATE"}), find_ordinal_days),
                (frozenset({"FACILITY"}), find_institutions),
                (frozenset({"AGE"}), find_ages_after_names),
                (frozenset({"UNKNOWN_WORD"}), find_unknown),
            ],
            judged=(
                *small_letters.JUDGED,
                *small_letter_places.JUDGED,
                *hasty_places.JUDGED,
                *organisations.JUDGED,
                *signatures.JUDGED,
            ),
        )
    ]
