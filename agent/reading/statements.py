"""Decide from the surrounding words whether a mention is denied, doubted or taken back. Pure, shared by answer readers.

The lists err on the side of doubt. A mention wrongly taken for a denial leaves an answer unparsed, while the opposite
error would give credit for an option that the answer rejects.
"""

import re

from agent.reading.caseless import compile_caseless

_REACH = 400  # characters examined before a mention
_SENTENCE_END = re.compile(r"[.!?][)\]\"']*(?=\s)|\n")
# A colon does not end a clause here: "it is wrong to say: the answer is A".
_CLAUSE_END = re.compile(
    r"[,;]\s|\s-\s|\b(?:so|thus|therefore|hence|but|then|because|since|consequently)\b",
    re.IGNORECASE,
)
_DENIAL = compile_caseless(
    r"\b(?:not|no|never|nobody|none|neither|nor|cannot|wrong(?:ly)?|incorrect(?:ly)?|false(?:ly)?|mistaken(?:ly)?"
    r"|unlikely|previously|initially|at first|instead of|rather than|rul(?:e|es|ed|ing) out|exclud\w*|eliminat\w*"
    r"|avoid\w*|discard\w*|dismiss\w*|reject\w*|tempt\w*|distract\w*|trap\w*|except|unless|if|whether"
    r"|(?<!is )(?<!'s )why|(?<!no )(?<!without )(?<!without a )doubt\w*|unsure|uncertain|suppose|assum\w*)\b|n't\b"
    r"|\b(?:least|worst|second|alternative|other|another|runner-?up)(?:\s\w{1,20}){0,2}\s?$|\b(?:each|every|following)\s?$"
    r"|\b(?:previous|initial|first|original)\s(?:answer|option|choice|thought|guess|impression|instinct|inclination|pick)\s?$"
    r"|\b(?:previous|initial)\s?$"
    r"|\b(?:students?|people|some|someone|many|others|one|you)\s(?:\w{1,12}\s)?(?:say|argue|claim|think|believe|choose|pick|answer)\b",
)
_IF_ASKED = r"if (?:i (?:had|have|must|were)|forced|pressed|pushed|asked|you|necessary)\b"
# Words that look like a denial or a condition and are none.
_SURE = re.compile(
    rf"\b(?:(?:no|without(?: a| any)?) (?:doubt|question(?! of\b)|contest)|in other words|{_IF_ASKED})\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    rf"(?:(?:finally|however|but|and|so|also|lastly|second(?:ly)?|third(?:ly)?),?\s)?"
    rf"(?!{_IF_ASKED})(?:if|unless|were|had|should)\b",
    re.IGNORECASE,
)
_UNLESS = re.compile(r"\b(?:unless|except|only (?:if|when|in))\b", re.IGNORECASE)
_TURN = re.compile(
    r"\b(?:but|although|though|however|unless|except|if|when|only|avoid\w*|too(?! \w)|also|as well|and so|so is|yet)\b",
    re.IGNORECASE,
)
_RETRACTION = compile_caseless(
    r"(?:^|(?<=[.!?,;:\n-])|(?<=[.!?,;:\n-]\s))(?:wait\b(?! (?:for|and|till|until|at|a|to)\b)|hold on"
    r"|actually(?:,| no\b)"
    r"|no, |edit\s?:|correction\s?[:,!]|sorry\b(?! friends)|hmm"
    r"|oops|on (?:second|further|closer) )|\b(?:scratch that|or rather\b|reconsider\w*|my mistake"
    r"|change my (?:answer|mind|choice)"
    r"|i (?:misread|meant|was wrong|stand corrected)|tak(?:e|ing) (?:that|it|this|my answer|my choice) back"
    r"|just kidding|(?:disregard|ignore) (?:the (?:above|previous|letter|answer)|my (?:answer|previous|first|earlier)"
    r"|(?:that|this|it)(?=\s?(?:[.,;!]|$|\n)))"
    r"|withdraw (?:my|that|this|the) (?:answer|choice)?|(?:was|were|is|am) mistaken"
    r"|made (?:a|an) (?:mistake|error)|let me (?:re|correct|double|think))",
)

# One of these occurs in every retraction; looking for them first is much faster.
_WORDS_OF_RETRACTION = (
    *("wait", "hold on", "actually", "no, ", "edit", "correction", "sorry", "hmm", "oops", "on second ", "on further "),
    *("on closer ", "scratch that", "or rather", "reconsider", "change my ", "mistake", "i misread", "i meant"),
    *("i was wrong", "i stand corrected", " back", "made a", "let me ", "disregard ", "ignore ", "kidding"),
    *("withdraw ",),
)  # fmt: skip

_QUESTION = re.compile(r"[^.!?\n]{0,300}\?")
_WOULD = re.compile(r"\b(?:would|could|might)\b|'d\b", re.IGNORECASE)
_THIS_CASE = (
    r"(?!(?:this|these|that|those|such|the|his|her|my|our|your|their|its|all|general|short|summary|conclusion|view|light"
    r"|order|addition|fact|contrast|terms|sum|reality|practice|most|both|example|instance|an?)\b"
    # "with about 60% certainty"
    r"|(?:about\s|around\s|some\s|very\s|~)?(?:\d{1,3}\s?%|high|low|moderate|reasonable|full)\s"
    r"(?:confidence|certainty|probability))"
)
_OTHER_CASE_BEFORE = re.compile(
    r"\W{0,3}(?:(?:however|but|and|whereas|while|although|note that|conversely)\b,?\s)?"
    rf"(?!{_IF_ASKED})"
    rf"(?:(?:in|for|with|during|among|under|without)\s{_THIS_CASE}|(?:in|for|with|during)\sthe\s(?:absence|presence|setting|event)\b"
    rf"|(?:in|for|with)\san?\s(?:\w{{1,20}}\s)?(?:pregnan|child|newborn|neonat|elderly|allergic|different|other|stable|unstable)"
    rf"|(?:when|were|had|if|should|unless|suppos\w*|otherwise)\b)",
    re.IGNORECASE,
)
_OTHER_CASE_AFTER = re.compile(
    rf"[^.;!?\n]{{0,60}}?\b(?!{_IF_ASKED})(?:if|were|had)\b|\s(?:in|during|with|without|for|when)\s{_THIS_CASE}",
    re.IGNORECASE,
)


# The refusals of chat models. "Consult a doctor" is none: such advice often follows an answer.
_REFUSAL = compile_caseless(
    r"\b(?:i(?:'m| am) sorry|i apologi[sz]e|as an ai\b|i(?:'m| am) (?:unable|not able|not allowed|not qualified)"
    r"|i (?:cannot|can't|can not|won't|will not|must decline to|am not comfortable|do not feel comfortable)"
    r"\s(?:\w+\s){0,3}?(?:provide|give|answer|help|assist|offer|make|comment|comply|recommend|advise|determine|say|choose))",
)
# Words of somebody who chooses nothing.
_WORDS_OF_UNDECIDED = (
    *("settle", "decide", "choose", "pick one", "commit", "make up my", "which", "close to call"),
    *("toss", "coin", "it depends"),
)
_UNDECIDED = re.compile(
    r"\b(?:can't|cannot|can not|unable to|not able to|couldn't|could not|hard to|impossible to|difficult to|i don't"
    r"|i do not)\s(?:really\s|quite\s|yet\s)?"
    r"(?:settle on(?: one| either)?|decide|choose between|choose one|pick one|commit to(?: one| either)?"
    r"|make up my mind|tell which|say which)"
    r"|\b(?:undecided|too close to call|a toss-?up|a coin[- ](?:flip|toss)"
    r"|it depends(?=\s?[.;!]|$|\n)|(?<=[.!?]\s)it depends(?=\son\s[^.\n]{1,80}\.?\s*$))",
    re.IGNORECASE,
)
# Words after which no sentence ends.
_OPEN_END = compile_caseless(
    r"(?<![\w'])(?:an?|and|are|as|at|be|because|but|by|for|from|has|have|if|in|is|its?|may|need|of|on|or|since|that|the"
    r"|their|these|this|those|to|was|were|which|while|who|with|would)$",
)
_MIN_BEGUN_WORDS = 3  # of a last sentence without an end


def is_denied(text: str, start: int) -> bool:
    """Return whether the clause before `start` denies, doubts or makes conditional the text that begins there."""
    sentence = _get_last_part(_SENTENCE_END, text[max(0, start - _REACH) : start])
    if (
        "doubt" in sentence
        or "question" in sentence
        or "contest" in sentence
        or "if " in sentence
        or "words" in sentence
    ):
        sentence = _SURE.sub("", sentence)
    if _CONDITION.match(sentence.lstrip()):
        return True
    clause = _get_last_part(_CLAUSE_END, sentence)
    # "It is not true, as some say, that B is correct."
    return (
        _DENIAL.search(sentence if clause.lstrip().lower().startswith("that ") else clause)
        is not None
    )


def is_qualified(text: str, end: int) -> bool:
    """Return whether the sentence continues after `end` with a "but", an "if" or an "also"."""
    return _TURN.search(_get_rest_of_sentence(text, end)) is not None


def is_conditional(text: str, end: int) -> bool:
    """Return whether the sentence continues after `end` with an "unless" or an "only if"."""
    return _UNLESS.search(_get_rest_of_sentence(text, end)) is not None


def is_question(text: str, end: int) -> bool:
    """Return whether the sentence that continues after `end` is a question."""
    return _QUESTION.match(text, end) is not None


def is_hypothetical(text: str, start: int, end: int) -> bool:
    """Return whether the statement from `start` to `end` speaks of another case: "in pregnancy it would be B"."""
    sentence = _get_last_part(_SENTENCE_END, text[max(0, start - _REACH) : start])
    statement = text[start:end]
    if not _WOULD.search(sentence + statement):
        return False
    return (
        _OTHER_CASE_BEFORE.match(sentence + statement) is not None
        or _OTHER_CASE_AFTER.match(text, end) is not None
    )


def find_last_retraction(text: str) -> int | None:
    """Return the position of the last retraction in the text: "Wait, ...", "No, ...", "I misread"."""
    last = None
    if not any(map(text.lower().__contains__, _WORDS_OF_RETRACTION)):
        return None
    for match in _RETRACTION.finditer(text):
        last = match.start()
    return last


def is_taken_back(text: str, end: int) -> bool:
    """Return whether the text after `end` retracts the mention: "Wait, ...", "No, ...", "I misread"."""
    return _RETRACTION.search(text, end) is not None


def is_refusal(text: str) -> bool:
    """Return whether the text refuses to answer: "I'm sorry", "I cannot answer this"."""
    return _REFUSAL.search(text) is not None


def find_undecided(text: str, start: int = 0) -> int | None:
    """Return the position behind words by which the text chooses nothing, "I can't settle on one", or None."""
    if not any(map(text.lower().__contains__, _WORDS_OF_UNDECIDED)):
        return None
    match = _UNDECIDED.search(text, start)
    return match.end() if match else None


def is_unfinished(text: str) -> bool:
    """Return whether the text stops within a sentence: after "the" or "which", a comma, or a begun second sentence."""
    end = text.rstrip()[-_REACH:]
    if end.endswith((",", "-", "(")) or _OPEN_END.search(end):
        return True
    last_sentence = _get_last_part(_SENTENCE_END, end)
    is_begun = len(last_sentence) < len(end) and len(last_sentence.split()) >= _MIN_BEGUN_WORDS
    # Who begins with a small letter writes no full stop at the end either.
    is_casual = text.lstrip()[:1].islower()
    return is_begun and end[-1:].isalnum() and not is_casual


def _get_rest_of_sentence(text: str, end: int) -> str:
    return _SENTENCE_END.split(text[end : end + _REACH], maxsplit=1)[0]


def _get_last_part(boundary: re.Pattern[str], text: str) -> str:
    return boundary.split(text)[-1]
