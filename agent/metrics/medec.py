"""MEDEC: whether a note contains an error, and in which sentence.

The gold text is "CORRECT", or the sentence's id, a space and the corrected sentence. Upstream tries to parse that whole
text as a number and fails, so its sentence accuracy is always 0 on notes with an error; the `helm_*` functions
reproduce that.
"""

import re
import unicodedata

from agent.metrics.spec import MetricSpec, Options
from agent.reading.words import ASCII_MARKS
from agent.vocabulary import Instance, Reason, Unscored

_NO_ERROR = -1
_SOME_ERROR = -2  # in a sentence without an id, or in several sentences
_GOLD = re.compile(r"(\d{1,4})(?:\s|$)")
_PREAMBLE = re.compile(
    r"(?:the\s)?(?:(?:final\s)?(?:answer|verdict)|output)(?:\sis)?\s?:?\s?", re.IGNORECASE
)
_CORRECT = re.compile(
    r"CORRECT(?=\s?(?:$|[.!,;(-])|\n|\s(?:because|since|as)\b)|(?i:correct[.!]?(?:\n|$)"
    r"|(?:the\s|this\s)?(?:clinical\s)?(?:note|text)\sis\s(?:correct|error-free)\b"
    r"|(?:(?:all|all\sof\sthe|all\sthe|every)\s(?:\d{1,4}\s)?(?:sentences?|lines?)|everything)(?:\sin\sthe\s(?:\w{1,20}\s)?(?:note|text))?"
    r"\s(?:is|are|looks?|seems?|appears?)\s(?:medically\s|factually\s|clinically\s)?(?:correct|accurate|fine|right)\b"
    r"|(?:the\s|this\s)?(?:clinical\s)?(?:note|text)\s(?:contains|has)\sno\s(?:medical\s|factual\s)?errors?(?=\.|\n|$)"
    r"|(?:there\s(?:is|are)\s)?(?:no|0|zero)\s(?:medical\s)?errors?(?:\s(?:was|were|is|are))?"
    r"(?:\s(?:found|detected|identified|present|in\s(?:the|this)\s(?:\w{1,20}\s)?(?:note|text)))*(?=\.|\n|$))"
)
# "The note is correct except sentence 4", "CORRECT, but ...": these do not call the note correct.
_EXCEPTION = re.compile(
    r"\b(?:except|apart|aside|other\sthan|besides|save\sfor|but|however|although|though|only|if|unless|mostly|not)\b"
    r"|^(?:sentence\s)?\d{1,4}[\s:]",
    re.IGNORECASE | re.MULTILINE,
)
_ID = r"(?:(?:id|number|no\.?|#)\s?)?[:#]?\s?[\[(]?(\d{1,4})(?![\w/]|[.,]\d|-\w)"
# "INCORRECT\n10 ...", "The incorrect sentence is:\n10 ...": the text before the sentence calls it wrong.
_ANNOUNCED = re.compile(
    r"(?:incorrect|error|wrong)[.:!]?\n+"
    r"|(?:based\son\sthe\s(?:\w{1,20}\s)?(?:note|text),\s)?(?:the|this)\s(?:(?:incorrect|wrong|erroneous)\s(?:sentence|line)"
    r"|(?:sentence|line)\s(?:with|containing|that\s(?:has|contains))\s(?:the|an)\s(?:\w{1,20}\s)?error"
    r"|(?:medical\s|factual\s)?error)\s(?:is|reads|was)(?:\sin)?:?\s",
    re.IGNORECASE,
)
# Statements that there is an error without more detail, or that several sentences are wrong.
_ERROR = re.compile(
    r"(?:incorrect|error)[.!]?$"
    r"|(?:the|this)\s(?:\w{1,20}\s)?(?:note|text)\s(?:contains|has|includes)\s(?:an|one|1|a\ssingle|some|several)\s(?:\w{1,20}\s)?errors?[.!]?$"
    r"|(?:the|this)\s(?:\w{1,20}\s)?(?:note|text)\sis\s(?:incorrect|wrong|not\scorrect)[.!]?$"
    r"|there\sis\s(?:an|one|1)\s(?:\w{1,20}\s)?error(?:\sin\s(?:the|this)\s(?:\w{1,20}\s)?(?:note|text))?[.!]?$"
    r"|sentences\s\d{1,4}(?:,\s?\d{1,4})*,?\s(?:and|&)\s\d{1,4}\s(?:are|contain|have)\s(?:both\s|all\s)?(?:wrong|incorrect|errors|inaccurate)[.!]?$",
    re.IGNORECASE,
)
_SENTENCE = re.compile(rf"(?:(?:error\s)?(?:sentence|line)\s)?<?{_ID}>?", re.IGNORECASE)
_MENTION = re.compile(rf"\bsentence\s?{_ID}", re.IGNORECASE)
# "2 sentences", "1 error", "7 days ago": a count. Lower case, because a sentence after its id begins with a capital.
_COUNT = re.compile(
    r"\s?(?:%|(?:(?:potential|possible|medical|clinical|factual)\s)?(?:sentences?|errors?|mistakes?|issues?|problems?"
    r"|inaccuracy|inaccuracies|inconsistency|inconsistencies)\b|(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?"
    r"|mg|mcg|g|kg|m[Ll]|L|units?|tablets?|times|cm|mm|percent|patients?|out\sof|of\sthe)\b)"
)
_SEVERAL = re.compile(
    r"[\])]?\s?(?:,|&|-|/|\band\b|\bor\b|\bto\b)\s?(?:sentence\s)?\d{1,4}(?![\w/]|[.,]\d|-\w)",
    re.IGNORECASE,
)
_FINE = re.compile(
    r"[\])]?\s(?:is|was|looks|seems|appears)\s(?:\w{1,20}\s){0,2}?(?:correct|fine|accurate|right|ok|okay|appropriate|not|error-free)\b"
)
_WRONG = re.compile(
    r"\b(?:errors?|wrong|incorrect|inaccurate|inconsistent|mistakes?|mistaken|should|except|apart|erroneous)\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(r"\b(?:no|not|never|whether|if|without)\b|n't\b", re.IGNORECASE)
_ECHO = re.compile(r"^(?:[Ss]entence\s|[Ll]ine\s)?(\d{1,4}):?\s(?=[A-Z])", re.MULTILINE)


def parse_verdict(text: str) -> int | None:
    """Return the id of the sentence that an answer calls wrong, -1 if it calls the note correct, None if neither.

    The result is -2 if no single sentence is named ("The note contains an error.", "Sentences 9 and 10 are wrong").

    These forms are accepted: "CORRECT" alone or at the start (marks and case are ignored if it is alone), "The note is
    correct", "All sentences are correct", "No errors found."; a leading sentence id ("10 ...", "10. ...", "**10** ...",
    "<10> ...", "Line 10: ...", "Answer: 10 ..."), also after "INCORRECT" or "The incorrect sentence is:"; and a single
    sentence that is called wrong ("1 error: sentence 5 ...", "correct except sentence 4"). A number within the sentence
    ("3-year-old", "120/70", "7.5 mg") or a count ("2 sentences look wrong", "0 errors") is not an id. Repeating the
    whole note is not a verdict.
    """
    plain = _drop_prefix(_PREAMBLE, _simplify(text))
    if _ERROR.match(plain):
        return _SOME_ERROR
    plain = _drop_prefix(_ANNOUNCED, plain)
    correct = _CORRECT.match(plain)
    if correct:
        remainder = plain[correct.end() :]
        has_exception = _EXCEPTION.search(remainder) or _MENTION.search(remainder)
        return _find_wrong_sentence(plain) if has_exception else _NO_ERROR
    sentence = _SENTENCE.match(plain)
    if sentence is None or _COUNT.match(plain, sentence.end()):
        return _find_wrong_sentence(plain)
    if _SEVERAL.match(plain, sentence.end()) or _FINE.match(plain, sentence.end()):
        return None
    # Several lines that begin with an id repeat the note.
    if len(set(_ECHO.findall(plain))) > 1:
        return None
    return int(sentence[1])


def _simplify(text: str) -> str:
    """Return a text with plain marks and single spaces, without markup and quotation marks."""
    text = unicodedata.normalize("NFKC", text).translate(ASCII_MARKS)
    text = re.sub(r"[*`_#\"']+", "", text)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return "\n".join(lines).strip()


def _drop_prefix(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.match(text)
    return text[match.end() :] if match else text


def _find_wrong_sentence(text: str) -> int | None:
    """Return the only sentence that the text mentions, if it is called wrong in the same line."""
    mentions = list(_MENTION.finditer(text))
    if len({mention[1] for mention in mentions}) != 1:
        return None
    first = mentions[0]
    if _SEVERAL.match(text, first.end()) or _FINE.match(text, first.end()):
        return None
    line_start = text.rfind("\n", 0, first.start()) + 1
    line_end = text.find("\n", first.end())
    line = text[line_start:] if line_end < 0 else text[line_start:line_end]
    if _NEGATION.search(line) or not _WRONG.search(line):
        return None
    return int(first[1])


def _read_gold(text: str) -> int | None:
    if text.strip().rstrip(".") == "CORRECT":
        return _NO_ERROR
    sentence = _GOLD.match(text.strip())
    return int(sentence[1]) if sentence else None


def flag_accuracy(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
    """Score 1 if the answer and the gold agree on whether there is an error."""
    verdicts = _read_verdicts(answer, instance)
    if isinstance(verdicts, Unscored):
        return verdicts
    predicted, gold = verdicts
    return float((predicted == _NO_ERROR) == (gold == _NO_ERROR))


def sentence_accuracy(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
    """Score 1 if the answer and the gold name the same sentence, or both call the note correct."""
    verdicts = _read_verdicts(answer, instance)
    if isinstance(verdicts, Unscored):
        return verdicts
    predicted, gold = verdicts
    return Unscored(Reason.UNPARSED) if predicted == _SOME_ERROR else float(predicted == gold)


def _read_verdicts(answer: str, instance: Instance) -> tuple[int, int] | Unscored:
    gold = next(
        (_read_gold(reference.text) for reference in instance.references if reference.correct), None
    )
    if gold is None:
        return Unscored(Reason.NO_REFERENCE)
    predicted = parse_verdict(answer)
    return Unscored(Reason.UNPARSED) if predicted is None else (predicted, gold)


def helm_flag_accuracy(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
    """Score as HELM does at version 0.5.16: anything but the bare word CORRECT reports an error."""
    gold = _read_helm_gold(instance)
    if gold is None:
        return Unscored(Reason.NO_REFERENCE)
    return float((answer.strip() == "CORRECT") == (gold == "CORRECT"))


def helm_sentence_accuracy(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
    """Score as HELM does at version 0.5.16: 0 on notes with an error, unless the gold is only a number."""
    gold, predicted = _read_helm_gold(instance), answer.strip()
    if gold is None:
        return Unscored(Reason.NO_REFERENCE)
    if gold == "CORRECT" or predicted == "CORRECT":
        return float(gold == predicted)
    match = re.match(r"\d+", predicted)
    try:
        wanted = int(gold)
    except ValueError:
        return 0.0
    return float(match is not None and int(match[0]) == wanted)


def _read_helm_gold(instance: Instance) -> str | None:
    return next((r.text.replace(".", "").strip() for r in instance.references if r.correct), None)


SPECS = (
    MetricSpec(
        "medec_error_flag_accuracy",
        "Error flag accuracy",
        0,
        1,
        True,
        "Whether the answer agrees that the note contains an error, or that it is correct.",
        flag_accuracy,
        helm_flag_accuracy,
    ),
    MetricSpec(
        "medec_error_sentence_accuracy",
        "Error sentence accuracy",
        0,
        1,
        True,
        "Whether the answer names the wrong sentence, or agrees that the note is correct.",
        sentence_accuracy,
        helm_sentence_accuracy,
    ),
)
