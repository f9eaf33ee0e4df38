"""Read "a cautious yes", "the data say no" or "in the negative" where the options are yes, no and perhaps maybe.

"No" begins many sentences, so a word counts only where it is used as an answer: in quotation marks, behind an article
or "says", or at the end of a clause. All words used so must mean the same.
"""

import re
from collections.abc import Iterator
from itertools import islice

from agent.reading.choice import cues
from agent.reading.choice.claims import ClaimStrength, OptionClaim
from agent.reading.choice.marked_answer import MarkedAnswer
from agent.reading.choice.rules import NAMED_IN_SENTENCE
from agent.reading.statements import (
    find_last_retraction,
    is_denied,
    is_qualified,
    is_question,
    is_refusal,
)

_MAX_WORDS = 30
_WORD = r"(?P<word>yes|no|maybe)"
_ENDS = (
    r"[\"')]?(?=\s?[.,;:!)]|\s?\Z|\n|\s(?:for|from|at|in|with|here|than|rather|since|because)\b)"
)
# Phrases that name several answers and choose none: "neither yes nor no", "a definite yes or a definite no".
_CHOICE_OF_ANSWERS = re.compile(
    r"(?:\b(?:n?either|between)\s)?(?:\ba\s)?(?:\b(?:definite|clear|firm|plain|simple)\s)?[\"']?\b(?:yes|no|maybe)[\"']?"
    r"(?:,\s?|\s?/\s?|\sor\s|,\sor\s|\snor\s|\sand\s)(?:a\s)?(?:(?:definite|clear|firm|plain|simple)\s)?[\"']?(?:yes|no|maybe)\b[\"']?"
    r"(?:(?:,\s?|\s?/\s?|\sor\s|,\sor\s)[\"']?(?:yes|no|maybe)\b[\"']?)?"
)
_USED = re.compile(
    rf"""
      [\"'] {_WORD} [\"']
    | \b a \s (?:\w{{1,14}},?\s){{0,2}} {_WORD.replace("word", "noun")} {_ENDS}
    | (?: \b(?: rather | mostly | probably | likely | lean(?:s|ing)? | says? | vote[sd]? | answers? | so | thus | hence
          | therefore | then | overall | verdict | dr | word,? | means | its | it's | label\sis ) | [:;,>/] | \s- ) \s
      {_WORD.replace("word", "end")} {_ENDS}
    | \b(?: answer\w* | repl\w* | respon\w* ) \s (?:\w{{1,14}}\s){{0,4}} (?: in\sthe | is ) \s
      (?P<side> affirmative | negative ) {_ENDS}
    """,
    re.VERBOSE,
)
_YES = re.compile(r"\byes\b")
_MEANINGS = {"affirmative": "yes", "negative": "no"}
_NO_ANSWER = re.compile(r"\b(?:some|unless|depends?|if|whether|asked?)\b")


def read_yes_or_no(answer: MarkedAnswer) -> list[OptionClaim]:
    """Return the claim of an answer whose words of assent all mean the same."""
    texts = answer.options.plain_texts
    if not {"yes", "no"} <= set(texts):
        return []
    if is_refusal(answer.plain) or find_last_retraction(answer.plain) is not None:
        return []
    text = _CHOICE_OF_ANSWERS.sub(lambda match: " " * len(match[0]), answer.plain.lower())
    claims = list(_read_words(text, texts))
    options = {claim.option for claim in claims}
    if len(options) != 1 or _NO_ANSWER.search(text):
        return []
    # "Yes in men, no in women" means both.
    is_no = options == {texts.index("no")}
    return [] if is_no and _YES.search(text) else claims


def _read_words(text: str, texts: list[str]) -> Iterator[OptionClaim]:
    for match in islice(_USED.finditer(text), _MAX_WORDS):
        group = match.lastgroup or "word"
        word = match[group]
        meaning = _MEANINGS.get(word, word)
        # "The rate went up, maybe because of screening."
        is_adverb = group == "end" and word == "maybe" and text[match.end() :].startswith(" ")
        if meaning not in texts or is_adverb:
            continue
        if is_denied(text, match.start(group)) or is_question(text, match.end()):
            continue
        if is_qualified(text, match.end()) or cues.SAID_BY_OTHERS.search(text):
            continue
        yield OptionClaim(
            texts.index(meaning),
            match.start(),
            match.end(),
            ClaimStrength.MENTIONED,
            NAMED_IN_SENTENCE,
        )
