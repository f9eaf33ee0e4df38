"""Read the option that an answer names: the fast entry for scoring, and the one that also shows the span."""

import re
from functools import lru_cache

from agent.reading.choice.begun_texts import contradicts_begun_text
from agent.reading.choice.bracketed_letters import FOREIGN_DENIAL, read_bracketed_letters
from agent.reading.choice.claims import ClaimStrength, OptionClaim, TooManyClaimsError
from agent.reading.choice.comments import read_listings
from agent.reading.choice.content import read_content
from agent.reading.choice.contradictions import is_contradicted
from agent.reading.choice.decision import choose_claim
from agent.reading.choice.dialogues import find_last_exchange
from agent.reading.choice.distributions import read_distribution
from agent.reading.choice.elimination import read_elimination
from agent.reading.choice.exceptions import read_exceptions
from agent.reading.choice.lines import read_lines
from agent.reading.choice.lists import find_listings, repeats_options
from agent.reading.choice.marked_answer import MarkedAnswer
from agent.reading.choice.normalise import normalise, normalise_with_positions
from agent.reading.choice.number_words import find_numeral
from agent.reading.choice.other_languages import apply_languages
from agent.reading.choice.programs import read_program
from agent.reading.choice.rankings import read_rankings
from agent.reading.choice.references import SIGNS, UNKNOWN, OptionTexts
from agent.reading.choice.rivals import is_weakened
from agent.reading.choice.rules import WHOLE_ANSWER
from agent.reading.choice.sentences import read_last_sentence, read_sentences
from agent.reading.choice.short_replies import read_short_replies
from agent.reading.choice.stated import read_statements
from agent.reading.choice.tables import read_tables
from agent.reading.choice.tentative import drop_tentative
from agent.reading.choice.unfinished_lists import breaks_off_in_list
from agent.reading.choice.yes_or_no import read_yes_or_no
from agent.reading.reading import Reading

# A longer answer is an endless repetition, not a choice.
_MAX_LENGTH = 100_000  # characters
# "switch from heparin"
_IN_OTHER_ROLE = re.compile(
    rf"\b(?:[Ss]witch(?:ing|ed)?|[Cc]hang(?:e|ing|ed)|[Ww]ean(?:ing|ed)?)\s(?:\w{{1,12}}\s)?(?:from|off)\s(?:the\s)?[{SIGNS}]"
)
_MAX_DISTRIBUTION = 1_000  # characters of an object of probabilities
_LONE_LETTER = re.compile(r"[\s.]{0,9}[(\[*\"']{0,3}([A-Za-z])[)\]*\"'.:]{0,4}[\s,]{0,9}")

# "B B B B"
_REPEATED_LETTER = re.compile(r"\W{0,3}([A-Z])(?:\W{1,5}\1){1,300}\W{0,3}")
_MIN_REPEATED = 2  # options in a question that is asked again
_MIN_LENGTH = 6  # characters of their texts; every question of yes or no has the same options
_NEXT_QUESTION = re.compile(
    r"\n(?:(?:Question|Q)(?:\s?\d{1,4})?\s?[:.]\s|(?:Question|Exercise|Problem)\s\d{1,4}\b)"
)


@lru_cache(16)  # the four match metrics read the same answer
def extract_option(answer: str, options: tuple[str, ...]) -> int | None:
    """Return the index of the option that the answer names, or None if it names none or several.

    Args:
        answer: the response's text, without reasoning.
        options: the options' texts; option i has the letter "ABC..."[i].
    """
    lone_letter = _LONE_LETTER.fullmatch(answer) or _REPEATED_LETTER.fullmatch(answer)
    if lone_letter:
        index = ord(lone_letter[1].upper()) - ord("A")
        return index if index < len(options) else find_numeral(lone_letter[1], options)
    if len(answer) > _MAX_LENGTH:
        return None
    claim = _read(normalise(answer), options)
    return claim.option if claim else None


def read_distribution_claim(answer: str, options: tuple[str, ...]) -> OptionClaim | None:
    """Return the claim of a JSON object that gives every option a probability, and has no key that names the answer."""
    if len(answer) > _MAX_DISTRIBUTION:
        return None
    marked = MarkedAnswer(normalise(answer), _prepare(options))
    return choose_claim(list(read_distribution(marked)), marked.text)


def read_option(answer: str, options: tuple[str, ...]) -> Reading | None:
    """Return the option's letter with the span of the answer that names it and the rule that read it."""
    option = extract_option(answer, options)
    if option is None:
        return None
    letter = chr(ord("A") + option)
    if _REPEATED_LETTER.fullmatch(answer):
        return Reading(letter, 0, len(answer), WHOLE_ANSWER.name)
    text, positions = normalise_with_positions(answer)
    claim = _read(text, options)
    if claim is None or claim.option != option:
        # The positions could not be followed, for example through rare combining characters.
        return Reading(letter, 0, len(answer), WHOLE_ANSWER.name)
    start = positions[claim.start]
    end = positions[claim.end - 1] + 1
    return Reading(letter, start, end, claim.rule.name)


def _read(text: str, options: tuple[str, ...]) -> OptionClaim | None:
    # A base model may go on with another question of its own; its answer is the one before.
    next_question = _NEXT_QUESTION.search(text)
    if next_question:
        claim = _read_part(text[: next_question.start()], options)
        if claim is not None:
            behind = text[next_question.end() :]
            return None if _answers_again(behind, options, claim.option) else claim
    return _read_part(text, options)


def _answers_again(text: str, options: tuple[str, ...], option: int) -> bool:
    """Return whether a text that follows an answer asks the same question again and gives another answer.

    A run of further questions is none of this: a base model goes on with examples.
    """
    if _NEXT_QUESTION.search(text):
        return False
    repeated = [words for words in options if len(words) >= _MIN_LENGTH and words in text]
    if len(repeated) < max(_MIN_REPEATED, len(options) - 1):
        return False
    claim = _read_part(text, options)
    return claim is not None and claim.option != option


def _read_part(text: str, options: tuple[str, ...]) -> OptionClaim | None:
    exchange = find_last_exchange(text)
    if exchange is not None:
        text = exchange.text
    answer = MarkedAnswer(text, _prepare(options))
    if repeats_options([text[line.start : line.end] for line in answer.lines], answer.options):
        return None
    try:
        claims = collect_claims(answer)
    except TooManyClaimsError:
        return None
    if exchange is not None:
        claims = [claim for claim in claims if claim.start >= exchange.start]
    claim = choose_claim(claims, answer.text)
    if claim is None or is_weakened(answer, claim):
        return None
    if contradicts_begun_text(answer, claim) or breaks_off_in_list(answer, claim):
        return None
    if is_contradicted(answer, claim):
        return None
    return claim


def collect_claims(answer: MarkedAnswer) -> list[OptionClaim]:
    """Return all claims of an answer.

    Raises:
        TooManyClaimsError: the answer repeats itself endlessly.
    """
    listings = find_listings(answer.plain, answer.options)
    statements = list(read_statements(answer))
    claimed_ends = {claim.end for claim in statements}
    claims = [
        *statements,
        *read_lines(answer, listings, claimed_ends),
        *read_listings(answer, listings),
        *read_sentences(answer),
        *read_elimination(answer, listings),
        *read_distribution(answer),
        *read_bracketed_letters(answer),
        *read_program(answer),
        *read_rankings(answer),
        *read_tables(answer),
    ]
    if not any(claim.strength > ClaimStrength.PROPOSED for claim in claims):
        claims += read_last_sentence(answer)
    claims = apply_languages(answer, claims)
    if all(claim.option == UNKNOWN for claim in claims):
        # "Rickets: F" was read as an option F.
        claims = read_exceptions(answer) or claims
    claims = drop_tentative(answer, listings, claims)
    claims = claims or read_short_replies(answer) or read_yes_or_no(answer) or read_content(answer)
    return [claim for claim in claims if not _is_denied_elsewhere(answer, claim)]


def _is_denied_elsewhere(answer: MarkedAnswer, claim: OptionClaim) -> bool:
    """Return whether words of another language deny the sentence of a weak claim: "Das ist falsch (Option C)."."""
    if claim.strength > ClaimStrength.PROPOSED:
        return False
    start = answer.find_sentence_start(max(0, claim.end - 1))
    if _IN_OTHER_ROLE.search(answer.text, start, claim.end):
        return True
    return FOREIGN_DENIAL.search(answer.lower, start, claim.end) is not None


@lru_cache(64)
def _prepare(options: tuple[str, ...]) -> OptionTexts:
    return OptionTexts(options)
