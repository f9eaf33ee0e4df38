"""Read whether an answer calls a note correct, or which of its sentences it calls wrong. Pure.

A verdict can be stated in the benchmark's own form ("CORRECT", "10 The dose is 5 mg."), as fields (JSON, elements,
lines of "key: value", the official submission line) or in sentences ("The error is in sentence 10."). Every statement
in the answer is collected. A statement in the form of an answer outweighs the reasoning around it; statements that
contradict each other are unread.

The numbered sentences of the note are used if the caller knows them: a number that no sentence has names no sentence,
and a sentence that is quoted or corrected without its number is looked up.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from agent.reading.plain_answer import simplify, simplify_with_positions
from agent.reading.reading import Reading

NO_ERROR = -1
SOME_ERROR = -2
"""The verdict that there is an error in a sentence that is not named, or in several sentences."""

Sentences = Mapping[int, str]
"""The sentences of a note by their number; empty if they are not known."""

RULES = {
    "whole answer": ("The answer has the form that was asked for.", "10 The dose is 5 mg."),
    "submission line": (
        "A line has the form of the official submission: note, flag, sentence, correction.",
        'ms-test-0 1 10 "The dose is 5 mg."',
    ),
    "field": (
        "A field of a JSON object, an element or a line of keys and values states the verdict.",
        '{"error_flag": 1, "error_sentence_id": 10}',
    ),
    "final answer": ("The verdict follows words that announce the answer.", "Answer: CORRECT"),
    "line": (
        "A line has the form that was asked for, with reasoning before or after it.",
        "The dose is ten times too high.\n\n10 The dose is 5 mg.",
    ),
    "stated verdict": (
        "A sentence says that the note is correct, or which sentence is wrong.",
        "The error is in sentence 10.",
    ),
    "quoted sentence": (
        "The answer quotes or corrects a sentence of the note without its number.",
        'The error is "The dose is 50 mg."',
    ),
}
"""The rules by name, each with its meaning and an example."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """A statement about the note, from `start` to `end`.

    Attributes:
        verdict: NO_ERROR, SOME_ERROR or the number of the wrong sentence.
        rule: the rule that found it.
        is_final: whether it has the form of an answer, and is not a part of the reasoning.
    """

    verdict: int
    start: int
    end: int
    rule: str
    is_final: bool


@dataclass(frozen=True, slots=True)
class _Statement:
    """A statement about a note. The pattern is tried where any of the words in `needs`, in lower case, occurs."""

    needs: tuple[str, ...]
    pattern: re.Pattern[str]

    def find_all(self, flat: str, lower: str) -> Iterator[re.Match[str]]:
        return (
            self.pattern.finditer(flat) if any(word in lower for word in self.needs) else iter(())
        )


# Marks that carry no meaning here are replaced by spaces, so that positions stay the same.
_FLAT = str.maketrans(dict.fromkeys('"*`_#[]({}<>|$•\ufe0f', " "))

_SENTENCE_WORD = (
    r"(?:sentences?|lines?|statements?|sent\.|items?|satz|zeile|frase|oraci[oó]n|l[ií]nea|phrase|ligne|riga|zin|mening"
    r"|zdanie)"
)
_NOT_AFTER = r"(?![\w/%]|[.,]\d|-\w)"
_NUMBER = rf"(?:(?:ids?|numbers?|no\.?|nr\.?)\s{{0,2}})?[:=]?\s{{0,2}}'?(\d{{1,4}}){_NOT_AFTER}"
_REFERENCE = rf"\b(?:{_SENTENCE_WORD}|ids?)\s{{0,2}}{_NUMBER}"
# "2 sentences", "1 error", "7 days ago": a count. Lower case, because a sentence after its number begins with a capital.
_COUNT = re.compile(
    r"\s{0,3}(?:%|(?:(?:potential|possible|medical|clinical|factual)\s)?(?:sentences?|errors?|mistakes?|issues?|problems?"
    r"|inaccuracy|inaccuracies|inconsistency|inconsistencies)\b|(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?"
    r"|mg|mcg|g|kg|m[Ll]|L|units?|tablets?|times|cm|mm|percent|patients?|out\sof|of\sthe)\b)"
)
_SEVERAL = re.compile(
    rf"\s{{0,2}}(?:,|&|-|/|\band\b|\bor\b|\bto\b)\s{{0,2}}(?:{_SENTENCE_WORD}\s)?\d{{1,4}}{_NOT_AFTER}(?!\s?(?:mg|mm|cm|g|%|m[lL])\b)",
    re.IGNORECASE,
)
_LABEL = (
    r"(?:(?:so|thus|therefore|hence|then|and|in\sconclusion|overall)\b,?\s{0,2})?(?:(?:my|the|our)\s{1,2})?(?:(?:final|correct|overall)\s{1,2})?"
    r"(?:answer|verdict|output|result|response|conclusion|decision|assessment|judge?ment|determination|diagnosis\sof\sthe\snote"
    r"|respuesta|risposta|antwort|r[eé]ponse|resposta|svar|odpowied[zź]|cevap)"
    r"(?:\s{1,2}(?:here|to\sthis|for\sthis\s\w{1,10}))?(?:\s{1,2}(?:is|would\sbe|will\sbe|remains|ist|es|est|è))?(?:\s{1,2}that)?\s{0,2}[:=>→➜➡,-]{0,2}\s{0,3}"
)
_CORRECT_TOKEN = r"CORR?ECT(?![\w-])(?!\s{1,2}(?:the|this|it|to|or|if|unless|sentence|line|answer|SENTENCE|ANSWER|VERSION|TEXT|dose)\b)(?!:)(?!\s{0,3}/|\s{1,3}INCORRECT)"
_CORRECT_WORD = (
    r"(?i:corr?r?e?c?t|all\s(?:is\s)?(?:correct|fine|good)|(?:it\s)?looks?\s(?:correct|fine|good)(?:\sto\sme)?|(?:i'd\ssay\s)?it(?:'s|\sis)\scorrect|correcto|korrekt|corretto|correcte|richtig|poprawn[ya]"
    r"|no\s(?:\w{1,12}\s)?(?:errors?|issues?|mistakes?|problems?|inaccuracies|corrections?|changes)(?:\s(?:found|detected|identified|needed|required))?|error[\s-]free)"
)
_EXCEPTION = re.compile(
    r"\b(?:except|apart|aside|other\sthan|besides|save\sfor|but|however|although|though|only|if|unless|mostly|not|until|almost|nearly|so\sfar)\b",
    re.IGNORECASE,
)
_HARMLESS = re.compile(
    r"\b(?:but|however|although|though)\b[^.!?\n]{0,80}\b(?:nothing|no|not\san?|i(?:'m| am)\snot|isn't|aren't|don't|fine|acceptable|correct|minor|plausible)\b",
    re.IGNORECASE,
)

_LINE = re.compile(r"[^\n]+")
_SENTENCE_END = re.compile(r"[.!?]['\")\]]{0,2}(?=\s)|\n")
_BULLET = r"[\s+=:'.,~→➜➡✅✔✓☑❌✗✘-]{0,8}"
_CAPTION = r"(?:wrong|right|original|correct(?:ed|ion)?|revised|before|after|old|new|error|mistake|incorrect)(?:\s(?:sentence|line|version|text))?\s?[:=>→-]{1,2}\s"
_CORRECT_LINE = re.compile(
    rf"{_BULLET}(?P<label>{_LABEL})?'?(?:{_CORRECT_TOKEN}|{_CORRECT_WORD}(?=\W{{0,4}}(?:\n|\Z)))(?!\W{{0,2}}\?)"
)
_BOXED = re.compile(r"\\boxed\s{0,2}")
_INCORRECT = re.compile(
    rf"{_BULLET}(?:{_LABEL})?'?(?:INCORRECT|(?i:incorrect|error|not\scorrect|wrong)(?=\W{{0,4}}(?:\n|\Z))|Incorrect(?=[.!:]\s))(?!\w)"
)
_ID_LINE = re.compile(
    rf"{_BULLET}(?:{_CAPTION})?(?P<label>{_LABEL})?(?:(?:the\s)?(?:error|wrong|incorrect|erroneous)?\s{{0,2}}(?:is\s)?(?:in\s)?(?P<word>{_SENTENCE_WORD}|s(?=\d))\s{{0,2}}|(?P<id>ids?\s{{0,2}}))?"
    rf"{_NUMBER}(?P<mark>(?:'(?!s\b))?(?:\s{{0,2}}[.):,;=>→➜➡-]{{1,2}})?)",
    re.IGNORECASE,
)
_SUBMISSION = re.compile(
    r"[ \t'-]{0,4}(?:(?:[A-Za-z]\w{0,20}(?:-\w{1,20}){1,4}|\d{1,5}(?=[ \t,;]{1,3}[01][ \t,;]{1,3}-?\d{1,4}[ \t,;]{1,3}(?:\"|NA\b)))[ \t,;]{1,3}(?P<flag>[01])[ \t,;]{1,3}(?P<id>-?\d{1,4})(?=[\s,;]|\Z)"
    r"|(?P<bare_flag>[01])[ \t,;]{1,3}(?P<bare_id>-1(?=[ \t,;]{1,3}NA\b|[ \t]{0,3}(?:\n|\Z))|\d{1,4}(?=[ \t,;]{1,3}\"\w)))"
    r"[ \t,;]{0,3}(?P<text>[^\n]{0,20})"
)

# "3: OK", "6: ERROR" in a list of all sentences.
_STATUS = re.compile(
    r"(?:ok|okay|fine|correct|no\s(?:\w{1,12}\s)?(?:errors?|issues?|problems?)|accurate|plausible|acceptable|right|normal|consistent|good|valid)(?=\W{0,3}(?:$|\Z|\n)|[.,;-])"
    r"|[✓✔✅☑]"
    r"|(?P<wrong>[✗❌✘]|(?:error(?!s|:|\s(?:found|detected|identified|present))|wrong|incorrect|inaccurate|erroneous|not\scorrect)\b)",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"^\W{0,4}(?:if|unless|suppose|were|had)\b(?!\s(?:i|we|one)\s(?:must|have\sto|had\sto)\s(?:pick|choose|answer|decide)\b)"
    r"|\b(?:might|may|could(?!\sn[o])(?!n't)|possibly|perhaps|maybe|at\sfirst|initially|first\sthought|suspicious|suspicio\w{1,3}|candidates?|tempt\w{0,5}|consider(?:ed|ing)?"
    r"|quibble|whether|one\shand|other\shand|second-most|sure\sif|asked|task)\b|\?\W{0,3}$",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\W{0,4}(?:if|unless|when|where)\b", re.IGNORECASE)
_CHOSEN = re.compile(
    r"\b(?:best\sguess|i(?:'d|'ll|\swould|\swill)?\s(?:say|pick|choose|answer|go\swith|select|settle|conclude))\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:no|not|never|nothing|none|without|neither|nor|dismiss\w{0,4}|rul\w{1,4}\sout|cannot)\b|n't\b",
    re.IGNORECASE,
)
_PARTIAL = re.compile(
    r"\b(?:other|others|rest|remaining|else|otherwise|previous|following|first|last|labs?|vitals?|exam)\b",
    re.IGNORECASE,
)
_NOTE = r"(?:(?:the|this|your|entire|whole|given|provided|clinical|medical|patient(?:'s)?|progress)\s{1,2}){1,4}(?:note|text|record|vignette|document|documentation|report|case|chart|passage|summary|narrative)"
_FINE_WORD = (
    r"(?:correct|accurate|error-free|fine|right|consistent|ok|okay|sound|valid|plausible|unremarkable|appropriate|coherent|flawless|in\sorder"
    r"|free\s(?:of|from)\s(?:any\s)?(?:\w{1,12}\s)?(?:errors?|mistakes?))\b"
)
_ERROR_NOUN = r"(?:errors?|mistakes?|inaccurac(?:y|ies)|inconsistenc(?:y|ies)|flaws?|discrepanc(?:y|ies)|issues?|problems?|corrections?|contradictions?|fault)"
_CALLS_CORRECT = (
    _Statement(
        (
            "correct",
            "accura",
            "error",
            "fine",
            "right",
            "consistent",
            "ok",
            "sound",
            "valid",
            "plausible",
            "unremark",
            "appropriate",
            "coherent",
            "flawless",
            "order",
            "free of",
            "free from",
        ),
        re.compile(
            rf"(?:{_NOTE}|\b(?:all|each|every)\s(?:one\s)?(?:of\s)?(?:(?:the|these|its)\s)?(?:\d{{1,4}}\s)?{_SENTENCE_WORD}|\beverything)"
            rf"(?:\s(?:in|of|here|above)(?:\s(?:the|this)\s(?:\w{{1,20}}\s)?(?:note|text))?|\s(?:itself|as\s(?:written|given|a\swhole|it\sstands|presented|provided)))?\s(?:is|are|looks?|seems?|appears?|reads?)(?:\sto\sbe)?\s"
            rf"(?:(?:both|all|probably|likely|most\slikely|still|actually|already|entirely|completely|fully|medically|factually|clinically|internally|therefore|thus|indeed|as\swritten|quite|overall)[\s,]{{1,2}}(?:and\s)?){{0,3}}{_FINE_WORD}",
            re.IGNORECASE,
        ),
    ),
    _Statement(
        (
            "call",
            "consider",
            "deem",
            "judge",
            "mark",
            "rate",
            "find",
            "believe",
            "label",
        ),
        re.compile(
            rf"\b(?:call|consider|deem|judge|mark|rate|find|believe|label)\s{_NOTE}\s(?:to\sbe\s|as\s)?(?:\w{{1,12}}\s){{0,1}}{_FINE_WORD}",
            re.IGNORECASE,
        ),
    ),
    _Statement(
        ("flag",),
        re.compile(rf"\berror\sflag\s{{0,2}}(?:is|=|:)\s{{0,2}}0\b", re.IGNORECASE),
    ),
    _Statement(
        (
            "there isn",
            "there is not",
            "there aren",
            "there are not",
        ),
        re.compile(
            rf"\bthere\s(?:is|are)(?:n't|\snot)\s(?:an?|any)\s(?:\w{{1,20}}\s){{0,2}}{_ERROR_NOUN}\b",
            re.IGNORECASE,
        ),
    ),
    _Statement(
        (
            "don't",
            "do not",
        ),
        re.compile(
            rf"\b(?:don't|do\snot)\s(?:think|believe|see)\s(?:that\s)?there(?:'s|\sis|\sare)\s(?:an?|any)\s(?:\w{{1,20}}\s){{0,2}}{_ERROR_NOUN}\b",
            re.IGNORECASE,
        ),
    ),
    _Statement(
        (
            "errors",
            "error:",
            "error :",
            "mistakes",
        ),
        re.compile(
            rf"\b(?:errors?|mistakes?)(?:\s(?:found|detected|identified|present|count))?\s{{0,2}}[:=]\s{{0,2}}(?:none|0|zero|nil)\b",
            re.IGNORECASE,
        ),
    ),
    _Statement(
        (" no ",),
        re.compile(
            rf"{_NOTE}\s(?:contains|has|shows|includes)\sno\s(?:\w{{1,20}}\s){{0,2}}{_ERROR_NOUN}\b",
            re.IGNORECASE,
        ),
    ),
    _Statement(
        (
            "no ",
            "0 ",
            "zero ",
        ),
        re.compile(
            rf"\b(?:no|0|zero)\s(?:(?!other|further|more|additional|such)\w{{1,20}}\s){{0,2}}(?:{_ERROR_NOUN}|changes?|alterations?)\b"
            rf"(?=\s(?:(?:that\s)?(?:was|were|is|are|has\sbeen|have\sbeen|could\sbe|can\sbe)\s|to\s|found|detected|identified|present|needed|required|necessary|noted|seen|spotted|exists?"
            rf"|in\s(?:the|this|any|your)\s(?:\w{{1,20}}\s){{0,2}}(?:note|text|sentences?|record|vignette)|here)|\W{{0,4}}(?:$|\Z|\n|[,;]))",
            re.IGNORECASE,
        ),
    ),
    _Statement(
        (
            "not ",
            "n't ",
            "unable",
        ),
        re.compile(
            rf"\b(?:(?:could|did|do|does|was|am)(?:\snot|n't)|can\snot|can't|cannot|not|unable\sto|not\sable\sto)\s(?:(?:really|actually)\s)?(?:find|see|identify|detect|contain|spot|have|locate|notice|include|show)\s(?:an?\s|any\s)?(?:\w{{1,20}}\s){{0,2}}{_ERROR_NOUN}\b",
            re.IGNORECASE,
        ),
    ),
    _Statement(
        ("nothing",),
        re.compile(
            r"\bnothing\s(?:\w{1,12}\s){0,2}(?:(?:needs|has|ought)\s(?:to\s(?:be\s)?)?(?:chang|correct|fix)\w{1,4}|(?:is\s)?(?:wrong|incorrect|inaccurate)|to\s(?:correct|fix|change))\b",
            re.IGNORECASE,
        ),
    ),
    _Statement(
        (
            "none of",
            "no ",
        ),
        re.compile(
            rf"\b(?:none\sof\s(?:the|these|its)|no)\s(?:\d{{1,4}}\s)?{_SENTENCE_WORD}\s(?:\w{{1,12}}\s){{0,4}}?(?:wrong|incorrect|inaccurate|errors?|erroneous|changed|corrected|correcti\w{{1,3}})\b",
            re.IGNORECASE,
        ),
    ),
)
_TOKEN = re.compile(rf"(?<![\w-]){_CORRECT_TOKEN}(?!\W{{0,2}}\?)")
_BEFORE_TOKEN = re.compile(
    r"(?:[:=>,'-]|\b(?:answer|say|respond|mark|marked|is|as|with|verdict|stand|remains?|output|therefore|so|thus|note|conclude|reply|it|rate))\s{0,3}$",
    re.IGNORECASE,
)

_WRONG_WORD = (
    r"(?:wrong|incorrect|inaccurate|erroneous|errors?|mistakes?|mistaken|false|flawed|problem(?:atic)?|inconsistent|inappropriate|contraindicated|altered|faulty"
    r"|culprit|misleading|implausible|contradict\w{1,4}|falsch|incorrect[aoe]|err[oó]nea?|erronée?|sbagliat[ao]|fout|fel)\b"
)
_NOT_RIGHT = r"(?:not|n't)\s(?:\w{1,12}\s){0,2}?(?:correct|right|accurate|consistent|appropriate|supported|compatible|plausible|true|indicated|fit|match|explain|agree|make\ssense)\b"
_THIS_WRONG = re.compile(
    rf"^\W{{0,4}}(?:(?:this|that|it|here)\s(?:one\s|sentence\s|line\s|statement\s)?(?:is|has|contains|looks|seems|'s)\s(?:\w{{1,12}}\s){{0,3}}?(?:{_WRONG_WORD}|{_NOT_RIGHT})"
    rf"|(?:wrong|incorrect|error|erroneous|inaccurate)\W{{0,3}}(?:$|\Z|\n))",
    re.IGNORECASE,
)
_WRONG_BEFORE = re.compile(
    rf"(?:\b(?:error(?!s)|mistake(?!s)|inaccuracy|inconsistency|problem|issue|flaw|discrepancy|contradiction|fehler|erreur|errore)|"
    rf"\b(?:incorrect|wrong|erroneous|inaccurate|altered|faulty|flawed|problematic|false|mistaken|inconsistent|modified|changed|falsche)\s{{1,2}}(?:{_SENTENCE_WORD}|one|entry|id)|\bculprit|\bodd\sone\sout)"
    rf"(?P<between>[^\d.!?\n]{{0,60}}?)(?:{_REFERENCE}|(?:\b(?:is|at|in|with|id)|[:=→➜]|->)\s{{1,3}}(?:(?:ids?|numbers?|no\.?)\s{{0,2}})?'?(\d{{1,4}}){_NOT_AFTER})",
    re.IGNORECASE,
)
_WRONG_AFTER = re.compile(
    rf"{_REFERENCE}(?P<between>(?:[^.!?\n]|(?<=\d)\.(?=\d)){{0,160}}?)"
    rf"(?:(?:\b(?:is|was|are|contains?|has|includes?|seems|appears|looks|holds|as|being|be|with)|'s)\s(?:(?!not\b|no\b)\w{{1,12}}\s){{0,4}}?{_WRONG_WORD}"
    rf"|{_NOT_RIGHT}|\b(?:should|must|needs\sto|ought\sto|has\sto)\s(?!not\b|stay|remain)(?:\w{{1,12}}\s){{0,2}}?(?:be|read|say|state|have|mention|name|instead|contain|list)\b"
    r"|\binstead\sof\b|\bneeds\s(?:an?\s)?(?:to\sbe\s)?(?:correct|chang|fix|revis|amend|replac)\w{1,5}\b|\b(?:must|has\sto|should)\sbe\s(?:correct|chang|fix|revis|amend|replac)\w{1,5}\b"
    rf"|\b(?:is|ist|es|est)\s(?:the\s(?:one|error|wrong|incorrect|problem|altered)|{_WRONG_WORD}))",
    re.IGNORECASE,
)
_MENDED = re.compile(
    rf"\b(?:change|correct|replace|fix|strike(?:\sout)?|rewrite|amend|edit|revise|modify|cross\sout|flag(?:ged)?|correcting|marked|corrected|disagree\swith|take\sissue\swith)"
    rf"\s{{1,2}}(?:the\s)?(?:\w{{1,12}}\s){{0,2}}?{_REFERENCE}",
    re.IGNORECASE,
)
_MENDED_IN = re.compile(
    rf"\b(?:(?:change|replace|correct|fix|swap)\s|(?:should|must|needs\sto|ought\sto)\s(?:have\s)?(?:be(?:en)?|read|say|state)\b)[^\n.!?]{{0,160}}?(?:\bin\s(?:the\s)?|\s{{2}}){_REFERENCE}",
    re.IGNORECASE,
)
_CHOICE = re.compile(
    rf"(?:\b(?:best\sguess|my\s(?:pick|choice|vote|money))(?:\s(?:is|was|would\sbe|goes\sto|on))?"
    rf"|\bi(?:'d|'ll|\swould|\swill)?\s(?:say|pick|choose|answer|go\s(?:with|for)|select|flag|settle\s(?:on|for)|opt\sfor|name)(?:\sthat|\sit's|\sit\sis)?"
    rf"|\bthe\s(?:sentence\s)?id\s(?:is|would\sbe)|\bleav(?:es|ing)\s(?:us\swith|only|just|me\swith)?|\b(?:it|this)\s(?:is|must\sbe)(?=\s(?:{_SENTENCE_WORD}|ids?)\s))"
    rf"\s{{0,2}}:?\s{{0,2}}(?:{_SENTENCE_WORD}\s|the\s)?{_NUMBER}(?!\s(?:[a-z]{{2,}})\s(?:{_SENTENCE_WORD}))",
    re.IGNORECASE,
)
_REMAINS = re.compile(
    rf"(?:\b(?:thus|so|therefore|hence|only)\b,?\s)(?:{_SENTENCE_WORD}\s)?{_NUMBER}\s(?:remains|is\sleft)\b",
    re.IGNORECASE,
)
_EXCEPT_FOR = re.compile(
    rf"\b(?:except|apart\sfrom|other\sthan|besides|save\sfor|aside\sfrom)\s(?:for\s|in\s)?(?:the\s)?{_REFERENCE}",
    re.IGNORECASE,
)
_CALLS_WRONG_SOMEWHERE = (
    _Statement(
        (
            "contain",
            "has",
            "have",
            "include",
        ),
        re.compile(
            rf"{_NOTE}\s(?:\w{{1,12}}\s)?(?:contains?|has|have|includes?)\s(?:an|one|1|a|some|several|two|multiple|2|3|three)\s(?:\w{{1,20}}\s){{0,2}}{_ERROR_NOUN}\b",
            re.IGNORECASE,
        ),
    ),
    _Statement(
        (
            "is incorrect",
            "is wrong",
            "is inaccurate",
            "is not",
        ),
        re.compile(
            rf"{_NOTE}\sis\s(?:incorrect|wrong|inaccurate|not\s(?:\w{{1,12}}\s)?(?:correct|accurate))\b",
            re.IGNORECASE,
        ),
    ),
    _Statement(
        (
            "there is",
            "there are",
        ),
        re.compile(
            rf"\bthere\s(?:is|are)\s(?:indeed\s)?(?:an|one|1|a|two|several|some|multiple|2|at\sleast\sone)\s(?:\w{{1,20}}\s){{0,2}}{_ERROR_NOUN}\b",
            re.IGNORECASE,
        ),
    ),
    _Statement(
        (
            "notice",
            "found",
            "find",
            "see ",
            "identified",
            "spotted",
            "detected",
        ),
        re.compile(
            rf"\b(?:i|we)\s(?:\w{{1,12}}\s)?(?:notice|noticed|found|find|see|identified|spotted|detected)\s(?:an|one|a|two|three|several|some|multiple|2|3)\s(?:\w{{1,20}}\s){{0,2}}{_ERROR_NOUN}\b",
            re.IGNORECASE,
        ),
    ),
    _Statement(
        (
            "sentences",
            "lines",
        ),
        re.compile(
            rf"\b(?:two|three|several|multiple|[2-9])\s(?:\w{{1,12}}\s){{0,2}}(?:sentences|lines)\s(?:are|look|seem|contain|have)\s(?:\w{{1,12}}\s){{0,2}}{_WRONG_WORD}",
            re.IGNORECASE,
        ),
    ),
    _Statement(
        (
            "sentence",
            "line",
        ),
        re.compile(
            rf"\bthe\s(?:\w{{1,12}}\s){{1,3}}(?:sentence|line)\s(?:is|contains|has)\s(?!not\b)(?:(?!not\b|no\b)\w{{1,12}}\s){{0,2}}{_WRONG_WORD}",
            re.IGNORECASE,
        ),
    ),
    _Statement(
        (
            "found",
            "detected",
            "identified",
        ),
        re.compile(
            rf"\b(?:[1-9]|one|two|three|several)\s(?:\w{{1,12}}\s){{0,2}}(?:errors?|mistakes?)\s(?:(?:was|were)\s)?(?:found|detected|identified)\b",
            re.IGNORECASE,
        ),
    ),
    _Statement(
        ("flag",),
        re.compile(rf"\berror\sflag\s{{0,2}}(?:is|=|:)\s{{0,2}}1\b", re.IGNORECASE),
    ),
    _Statement(
        (
            "number of errors",
            "error count",
        ),
        re.compile(
            rf"\b(?:number\sof\serrors|error\scount)\s{{0,2}}(?:is|=|:)\s{{0,2}}[1-9]\b",
            re.IGNORECASE,
        ),
    ),
    _Statement(
        (
            "error",
            "mistake",
        ),
        re.compile(
            rf"\bis\s(?:\w{{1,12}}\s)?(?:an|the)\s(?:\w{{1,12}}\s)?(?:error|mistake)\b(?!\sin)",
            re.IGNORECASE,
        ),
    ),
    _Statement(
        ("in sentences",),
        re.compile(rf"\b(?:errors|mistakes)\s(?:are\s)?in\ssentences\s\d{{1,4}}", re.IGNORECASE),
    ),
    _Statement(
        ("not correct",),
        re.compile(rf"\bnot\sCORRECT\b", re.IGNORECASE),
    ),
    _Statement(
        (
            " and ",
            "&",
            " or ",
        ),
        re.compile(
            rf"(?:\b{_SENTENCE_WORD}|\beither|\bboth)\s(?:{_SENTENCE_WORD}\s)?\d{{1,4}}(?:,\s?\d{{1,4}}){{0,20}},?\s(?:and|&|or)\s(?:{_SENTENCE_WORD}\s)?\d{{1,4}}\s"
            rf"(?:is|are|contains?|has|have)\s(?:both\s|all\s)?(?:an?\s)?{_WRONG_WORD}",
            re.IGNORECASE,
        ),
    ),
)
_RETRACTION = re.compile(
    r"\b(?:hold\son|scratch\sthat|take\s(?:that|it)\sback|disregard|ignore\s(?:my|the|that|what)|on\s(?:second|further|closer)\s(?:thought|reflection|look|inspection)"
    r"|chang\w{1,3}\smy\s(?:mind|answer)|let\sme\s(?:reconsider|re-?think|correct|start\sover)|actually,?\sno|no,\sactually|i\swas\s(?:wrong|mistaken)|need\sto\sthink"
    r"|not\ssure\sabout\s(?:that|this|my)|wait(?=[,.!-]|\s(?:no|actually|a))|my\smistake|i\smisread)\b",
    re.IGNORECASE,
)
_TURN_NEXT = re.compile(r"\s{0,4}(?:however|but|except|only|although|yet)\b", re.IGNORECASE)
_TURN = re.compile(
    r"\b(?:but|however|actually|although|though|dismissed|still|yet|acceptable|nevertheless)\b",
    re.IGNORECASE,
)
_KEYS_OF_ID = frozenset(
    {"id", "sentence id", "error sentence", "error sentence id", "sentence", "line", "wrong sentence", "incorrect sentence", "error id",
     "sentence number", "error location", "wrong sentence id", "incorrect sentence id", "error line", "sentence index", "index", "error sentence number",
     "line number", "number", "location", "error in sentence", "erroneous sentence", "sentence with error", "altered sentence", "wrong id"}
)  # fmt: skip
_KEYS_OF_FLAG = frozenset(
    {"error", "error flag", "has error", "errors", "contains error", "flag", "is error", "error present", "error found", "error detected", "any error",
     "has errors", "note has error", "incorrect", "is incorrect", "note contains error"}
)  # fmt: skip
_KEYS_OF_COUNT = frozenset(
    {
        "error count",
        "number of errors",
        "errors found",
        "num errors",
        "errors count",
        "total errors",
        "n errors",
    }
)
_KEYS_OF_CORRECTNESS = frozenset(
    {"correct", "is correct", "note correct", "note is correct", "all correct", "iscorrect"}
)
_KEYS_OF_ANSWER = frozenset(
    {"answer", "verdict", "final answer", "output", "result", "response", "prediction", "label", "decision", "assessment", "conclusion", "status", "final verdict",
     "judgment", "judgement"}
)  # fmt: skip
_KEYS_OF_CORRECTION = frozenset(
    {
        "corrected sentence",
        "correction",
        "corrected",
        "fix",
        "new",
        "corrected text",
        "replacement",
        "corrected version",
        "new sentence",
        "revised sentence",
    }
)
_TRUE = frozenset({"true", "yes", "1", "y", "ja", "sí", "present", "found"})
_FALSE = frozenset(
    {
        "false",
        "no",
        "0",
        "n",
        "none",
        "null",
        "na",
        "n/a",
        "nein",
        "absent",
        "no error",
        "no errors",
        "-1",
        "",
    }
)
# "7 because fluconazole does not treat BV.", "7 fluconazole should be metronidazole"
_REASON = re.compile(r"(?:because|since|as|where)\b|[^.!?\n]{0,80}\bshould\b", re.IGNORECASE)
# "Sentence 6 is inconsistent with a normal pH, but fits the diagnosis."
_EXCUSE = re.compile(
    r"\b(?:but|though|although|yet|still)\b[^.!?\n]{0,100}\b(?:fits?|acceptable|fine|not|can't|isn't|don't|doesn't|consistent|plausible|explain\w{0,3}|normal|okay?|correct|minor)\b",
    re.IGNORECASE,
)
_BARE_WRONG = re.compile(
    rf"(?:^|[.!?,]\s)\s{{0,3}}(\d{{1,4}})\s(?:is|was|must\sbe|should\sbe)\s(?!not\b)(?:(?!not\b)\w{{1,12}}\s){{0,3}}?(?:{_WRONG_WORD}|(?:{_SENTENCE_WORD}|one)\s(?:with|containing)\sthe\serror)",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBER_ALONE = re.compile(
    rf"(?:^|[.!?]\s)\s{{0,3}}{_REFERENCE}(?=\s{{0,2}}(?:\.\s|\.?\Z|\.?\n))",
    re.IGNORECASE | re.MULTILINE,
)
_REFERS = (
    "sentence",
    "line",
    "id",
    "statement",
    "item",
    "satz",
    "zeile",
    "frase",
    "phrase",
    "orac",
    "línea",
    "riga",
    "zin",
    "mening",
    "zdanie",
)
_CALLS_SENTENCE_WRONG = (
    _Statement(
        (
            "error",
            "mistake",
            "inaccura",
            "incons",
            "problem",
            "issue",
            "flaw",
            "discrep",
            "contradict",
            "wrong",
            "incorrect",
            "altered",
            "fault",
            "false",
            "modified",
            "changed",
            "culprit",
            "odd one",
            "fehler",
            "erreur",
            "falsch",
        ),
        _WRONG_BEFORE,
    ),
    _Statement(_REFERS, _WRONG_AFTER),
    _Statement(
        (
            "change",
            "correct",
            "replace",
            "fix",
            "strike",
            "rewrite",
            "amend",
            "edit",
            "revise",
            "modify",
            "cross",
            "flag",
            "mark",
            "disagree",
            "issue",
        ),
        _MENDED,
    ),
    _Statement(
        ("change", "replace", "correct", "fix", "swap", "should", "must", "need", "ought"),
        _MENDED_IN,
    ),
    _Statement(("guess", "my ", "i ", "i'", "leav", "it ", "this", " id "), _CHOICE),
    _Statement(("remains", "is left"), _REMAINS),
    _Statement(("except", "apart", "other than", "besides", "save for", "aside"), _EXCEPT_FOR),
    _Statement(_REFERS, _NUMBER_ALONE),
)
_DIGIT = re.compile(r"\d")
_ANNOUNCEMENT = re.compile(
    r"(?:\b(?:answer|verdict|output|result|response|conclusion|submission|incorrect|error|wrong|correction|corrected\s\w{1,12})(?:\s(?:is|reads|was|in|sentence|line)){0,3}\s{0,2}[:.!>=-]{0,3}"
    r"|\b(?:sentence|line|error)\s(?:is|reads|was)(?:\sin)?:?)$",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    rf"\b(?:final\s)?(?:answer|verdict|conclusion)(?:\sis|\swould\sbe|:|\s?=>?|\s-)\s{{0,3}}(?:{_SENTENCE_WORD}\s{{1,2}})?{_NUMBER}",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[,;:]\s|\b(?:but|so|therefore|thus|hence|and)\b", re.IGNORECASE)
_REFERENCE_PATTERN = re.compile(_REFERENCE, re.IGNORECASE)
_FINE = re.compile(
    r"\b(?:is|are|was|looks|seems|appears)\s(?:\w{1,20}\s){0,2}?(?:correct|fine|accurate|right|okay?|appropriate|plausible|acceptable)\b",
    re.IGNORECASE,
)
_CALLS_WRONG = re.compile(
    r"\b(?:error|wrong|incorrect|inaccurate|mistake|erroneous|problem|replace|change|should\s(?:read|be|say)|instead|write|corrected|correction)\b",
    re.IGNORECASE,
)
_PROMPT = re.compile(r"^[^\S\n]{0,4}Clinical\snote:[^\S\n]{0,4}\n", re.MULTILINE)
_PROMPT_END = re.compile(r"^[^\S\n]{0,4}Answer:", re.MULTILINE)
_NOTE_LINE = re.compile(r"^(\d{1,4}) (.*)$", re.MULTILINE)

_CONTRADICTION = -3
_MIN_SIMILARITY = 0.6
_MIN_RESEMBLANCE = 0.3  # of a line that begins with a sentence's number
_MIN_LEAD = 0.15  # by which the most similar sentence must exceed the second
_MAX_LOOKED_UP = 40  # passages compared with the note's sentences
_MAX_LINES = 400  # lines examined at each end of an answer

_FIELD = re.compile(
    r"(?:^|[{,;\[(])[ \t]{0,8}(?:[-*•+>][ \t]{1,3})?[*_`]{0,3}(?P<quote>[\"'`]?)(?P<key>[A-Za-z][A-Za-z_ .-]{0,30}?)[\"'`]?[*_`]{0,3}[ \t]{0,3}[:=]"
    r"\s{0,3}[*_`]{0,3}(?P<value>\"(?:[^\"\\\n]|\\.){0,1500}\"|'(?:[^'\\\n]|\\.){0,1500}'(?=[ \t]{0,3}[,;}\n]|\Z)|[^\n,;}\]]{0,300})",
    re.MULTILINE,
)
_ELEMENT = re.compile(r"<(?P<key>[A-Za-z_]\w{0,30})>(?P<value>[^<]{0,1500})</(?P=key)>")
_LEADING_NUMBER = re.compile(
    rf"[^\w-]{{0,3}}(?:{_SENTENCE_WORD}\s)?(?:ids?\s)?#?(-1|\d{{1,4}}){_NOT_AFTER}", re.IGNORECASE
)
_WORD = re.compile(r"\w+(?:\.\d+)?")
_QUOTED = re.compile(
    r"\"([^\"\n]{8,1500})\"|(?<!\w)'([^'\n]{8,1500}(?:'\w[^'\n]{1,200}){0,5})'(?!\w)"
)
_CORRECTED = re.compile(
    r"\b(?:correct(?:ed|ion)|revised|fixed|new|rewritten)(?:\s(?:sentence|line|version|text|statement))?(?:\s(?:is|reads|to|would\sbe|should\sbe|should\sread))?\s{0,2}[:>=-]{1,2}\s{0,4}([^\n]{8,1500})",
    re.IGNORECASE,
)


_WHOLE = re.compile(
    r"\s{0,9}(?P<verdict>CORRECT|(?P<number>\d{1,4})[.:]? [A-Z][a-z]* [\w ,.()%/+'-]{1,600})\.?\s{0,9}"
)
# Words by which an answer may say more than its form.
_IS_MORE = re.compile(
    r"CORRECT.|correct|wrong|error|mistake|sentence|line\b|note|guess|wait|hold on|scratch|disregard|ignore|thought|look|mind|reconsider|think|sure|actually|misread|should|instead"
    r"|remain|because|since|not |Normal|Consistent|Accurate|Valid|Right|Good|Fine|No ",
    re.DOTALL,
)


def find_verdict(answer: str, sentences: Sentences | None = None) -> int | None:
    """Return the number of the sentence that an answer calls wrong, NO_ERROR, SOME_ERROR, or None if it is unread."""
    claim = _find_whole(answer, sentences or {}) or _find_in_fields(answer, sentences or {})
    claim = claim or _find_in_text(simplify(answer), sentences or {})
    return None if claim is None or claim.verdict == _CONTRADICTION else claim.verdict


def read_verdict(answer: str, sentences: Sentences | None = None) -> Reading | None:
    """Return the verdict of `find_verdict`, with the words that state it: "correct", "error 10" or "error ?"."""
    claim = _find_whole(answer, sentences or {}) or _find_in_fields(answer, sentences or {})
    if claim is None:
        plain, positions = simplify_with_positions(answer)
        claim = _find_in_text(plain, sentences or {})
        if claim is not None:
            last = positions[max(claim.end - 1, claim.start)]
            claim = replace(claim, start=positions[claim.start], end=last + 1)
    if claim is None or claim.verdict == _CONTRADICTION:
        return None
    return Reading(_name(claim.verdict), claim.start, claim.end, claim.rule)


def _name(verdict: int) -> str:
    if verdict == NO_ERROR:
        return "correct"
    return "error ?" if verdict == SOME_ERROR else f"error {verdict}"


def _find_whole(answer: str, sentences: Sentences) -> _Claim | None:
    """Return the verdict of an answer that has exactly the form that was asked for, as most have."""
    match = _WHOLE.fullmatch(answer)
    if match is None or _IS_MORE.search(answer):
        return None
    verdict = int(match["number"]) if match["number"] else NO_ERROR
    if verdict >= 0 and sentences and verdict not in sentences:
        verdict = SOME_ERROR
    return _Claim(verdict, match.start("verdict"), match.end("verdict"), "whole answer", True)


# --- Fields -----------------------------------------------------------------------------------------------------------


class _Fields:
    """Collects what the fields of an answer state."""

    def __init__(self, sentences: Sentences) -> None:
        self._sentences = sentences
        self.flags: set[bool] = set()
        self.numbers: set[int] = set()
        self.answers: set[int] = set()
        self.names_no_sentence = False
        self.correction: bool | None = None
        self.start = -1
        self.end = -1

    def add(self, match: re.Match[str], *, is_quoted: bool) -> None:
        key = " ".join(re.sub(r"(?<=[a-z])(?=[A-Z])|[^A-Za-z]+", " ", match["key"]).lower().split())
        value = match["value"].strip(" \t*_`\r\n")
        text = value.strip("\"'").strip()
        if text == "[" and match.string.startswith("]", match.end("value")):
            text = ""
        word = text.lower().rstrip(".")
        is_known = True
        if key in _KEYS_OF_ID:
            self._add_sentence(text, word)
        elif key in _KEYS_OF_COUNT and word.isdigit():
            self.flags.add(int(word) > 0)
        elif key in _KEYS_OF_FLAG and word in _TRUE | _FALSE:
            self.flags.add(word in _TRUE)
        elif key in _KEYS_OF_FLAG and is_quoted and (number := _LEADING_NUMBER.match(text)):
            self.numbers.add(int(number[1]))
        elif key in _KEYS_OF_CORRECTNESS and word in _TRUE | _FALSE:
            self.flags.add(word in _FALSE)
        elif key in _KEYS_OF_CORRECTION:
            self.correction = word not in _FALSE
        elif key in _KEYS_OF_ANSWER and is_quoted:
            claim = _find_in_text(simplify(text), self._sentences)
            if claim is not None:
                self.answers.add(claim.verdict)
            is_known = claim is not None
        else:
            is_known = False
        if is_known:
            self.start = match.start("key") if self.start < 0 else self.start
            self.end = match.end("value")

    def _add_sentence(self, text: str, word: str) -> None:
        number = _LEADING_NUMBER.match(text)
        if number and int(number[1]) >= 0:
            self.numbers.add(int(number[1]))
        elif word in _FALSE:
            self.names_no_sentence = True
        elif _CORRECT_LINE.fullmatch(text.strip(" .")):
            self.flags.add(False)
        else:
            found = _look_up(text, self._sentences)
            if found is not None:
                self.numbers.add(found)

    def decide(self) -> int | None:
        """Return the verdict, _CONTRADICTION, or None if no field states one."""
        verdicts = set(self.answers)
        has_correction = self.correction is True
        if len(self.flags) > 1:
            return _CONTRADICTION
        if self.flags == {False}:
            if self.numbers or has_correction:
                return _CONTRADICTION
            verdicts.add(NO_ERROR)
        elif self.numbers:
            if self.names_no_sentence:
                return _CONTRADICTION
            verdicts.add(self.numbers.pop() if len(self.numbers) == 1 else SOME_ERROR)
        elif self.flags == {True}:
            verdicts.add(SOME_ERROR)
        elif self.names_no_sentence and not has_correction:
            verdicts.add(NO_ERROR)
        if len(verdicts) > 1:
            verdicts.discard(SOME_ERROR)
        if len(verdicts) > 1:
            return _CONTRADICTION
        return verdicts.pop() if verdicts else None


def _find_in_fields(answer: str, sentences: Sentences) -> _Claim | None:
    """Return the verdict in the fields of a JSON object, elements, or lines of keys and values."""
    if not (":" in answer or "=" in answer or "</" in answer):
        return None
    fields = _Fields(sentences)
    for match in _FIELD.finditer(answer):
        fields.add(match, is_quoted=bool(match["quote"]) and match["value"][:1] != "")
    if "</" in answer:
        for match in _ELEMENT.finditer(answer):
            if match["key"].lower() not in ("answer", "final_answer"):
                fields.add(match, is_quoted=True)
    verdict = fields.decide()
    if verdict is None:
        return None
    if verdict >= 0 and sentences and verdict not in sentences:
        verdict = SOME_ERROR
    return _Claim(verdict, fields.start, fields.end, "field", True)


# --- Text -------------------------------------------------------------------------------------------------------------


def _find_in_text(plain: str, sentences: Sentences) -> _Claim | None:
    flat = _BOXED.sub(lambda match: " " * len(match[0]), plain.translate(_FLAT))
    start, end = _find_answer_to_prompt(flat)
    # Spaces take the place of a repeated prompt, so that positions stay the same.
    plain, flat = " " * start + plain[start:end], " " * start + flat[start:end]
    claims = _Claims(plain, flat, sentences)
    claims.add_lines()
    claims.add_statements()
    return claims.decide()


def _find_answer_to_prompt(flat: str) -> tuple[int, int]:
    """Return the part of a text that answers, without the prompt that models repeat before it or go on with."""
    prompt = _PROMPT.search(flat)
    if prompt is None:
        return 0, len(flat)
    if flat[: prompt.start()].strip():
        return 0, prompt.start()
    answer = _PROMPT_END.search(flat, prompt.end())
    if answer is None:
        return 0, 0
    following = _PROMPT.search(flat, answer.end())
    return answer.start(), following.start() if following else len(flat)


class _Claims:
    """Collects the claims of a plain text about a note, and decides between them."""

    def __init__(self, plain: str, flat: str, sentences: Sentences) -> None:
        self._plain = plain
        self._flat = flat
        self._sentences = sentences
        self._claims: list[_Claim] = []
        self._names_unknown_number = False

    # Lines in the form of an answer.

    def add_lines(self) -> None:
        """Add the lines in the form that was asked for, and those of the official submission."""
        lines = [line for line in _LINE.finditer(self._flat) if line[0].strip(" .-=:,'~+")]
        if len(lines) > 2 * _MAX_LINES:
            lines = lines[:_MAX_LINES] + lines[-_MAX_LINES:]
        numbered: list[tuple[re.Match[str], re.Match[str]]] = []
        for line in lines:
            start, end = line.span()
            submission = _SUBMISSION.match(self._plain, start, end)
            if submission:
                self._add_submission(submission)
                continue
            if self._add_correct_line(start, end):
                continue
            incorrect = _INCORRECT.match(self._flat, start)
            number = incorrect and _ID_LINE.match(self._flat, incorrect.end(), end)
            if incorrect and number and self._is_sentence(number, end):
                self._add_number(number, line, "line")
                continue
            if incorrect:
                self._add(SOME_ERROR, start, incorrect.end(), "line", is_final=True)
                continue
            number = _ID_LINE.match(self._flat, start, end)
            status = number and _STATUS.match(self._flat[number.end() : end].lstrip(" '"))
            if number and status and status["wrong"]:
                self._add(self._get_number(number), start, end, "stated verdict", is_final=False)
            elif number and self._is_sentence(number, end):
                numbered.append((line, number))
        self._add_numbered(numbered, lines)

    def _add_submission(self, match: re.Match[str]) -> None:
        flag = match["flag"] or match["bare_flag"]
        number = int(match["id"] or match["bare_id"])
        has_text = match["text"].strip(" \"'“”.,").upper() not in ("", "NA", "N/A", "NONE", "NULL")
        if flag == "0":
            verdict = NO_ERROR if number == -1 and not has_text else _CONTRADICTION
        else:
            verdict = number if number >= 0 else _CONTRADICTION
        self._add(verdict, match.start(), match.end(), "submission line", is_final=True)

    def _add_correct_line(self, start: int, end: int) -> bool:
        match = _CORRECT_LINE.match(self._flat, start, end)
        if match is None:
            return False
        rest = self._flat[match.end() : self._find_sentence_end(match.end())]
        exception = _EXCEPTION.search(rest)
        if exception and not _HARMLESS.search(rest):
            found = _EXCEPT_FOR.search(self._flat, match.end(), end)
            verdict = int(found[1]) if found else _CONTRADICTION
            self._add(
                verdict, match.start(), found.end() if found else match.end(), "line", is_final=True
            )
            return True
        self._add(
            NO_ERROR,
            start,
            match.end(),
            "final answer" if match["label"] else "line",
            is_final=True,
        )
        return True

    def _is_sentence(self, match: re.Match[str], end: int) -> bool:
        """Return whether a number at the start of a line is that of a sentence, and no count or range."""
        if _COUNT.match(self._flat, match.end()) or _SEVERAL.match(
            self._flat, match.end("mark") - len(match["mark"])
        ):
            return False
        rest = self._flat[match.end() : end].lstrip(" '")
        if not rest.strip(" ."):
            return not match["word"] or match["word"].lower() != "s"
        if _STATUS.match(rest):
            return False
        if match["word"] or match["id"]:
            return bool(match["mark"]) or rest[0].isupper()
        is_marked = bool(match["mark"]) or bool(match["label"])
        is_reasoned = self._get_number(match) in self._sentences and _REASON.match(rest) is not None
        return (
            is_marked
            or is_reasoned
            or not rest[0].islower()
            or self._measure(match, end) >= _MIN_SIMILARITY
        )

    def _add_numbered(
        self, numbered: list[tuple[re.Match[str], re.Match[str]]], lines: list[re.Match[str]]
    ) -> None:
        """Add the lines that begin with a sentence's number, unless they only list the note or the reasons."""
        candidates = numbered
        labelled = [(line, match) for line, match in numbered if match["label"]]
        if labelled:
            for line, match in labelled:
                self._add_number(match, line, "final answer")
        follows_label = [pair for pair in numbered if self._follows_announcement(pair[0].start())]
        if not labelled and follows_label:
            first = follows_label[0][0].start()
            numbered = [pair for pair in numbered if pair[0].start() >= first]
        elif labelled:
            return
        kept = [pair for pair in numbered if not self._is_list_item(pair[1], candidates)]
        if len({match[self._group(match)] for _, match in kept}) > 1 and self._sentences:
            kept = [pair for pair in kept if not self._repeats_note(*pair)]
        distinct = {self._get_number(match) for _, match in kept}
        if len(distinct) > 1 and len(kept) > 1:
            is_note = not self._sentences and not follows_label
            if not is_note and all(self._resembles(*pair) for pair in kept):
                self._add(SOME_ERROR, kept[0][0].start(), kept[-1][0].end(), "line", is_final=True)
            elif self._sentences and self._resembles(*kept[-1]) and kept[-1][0] is lines[-1]:
                self._add_number(kept[-1][1], kept[-1][0], "line")
            return
        for line, match in kept[:1]:
            is_edge = (
                line is lines[0] or line is lines[-1] or line in [pair[0] for pair in follows_label]
            )
            if is_edge or (self._resembles(line, match) and self._sentences):
                self._add_number(match, line, "line")

    def _follows_announcement(self, start: int) -> bool:
        before = self._flat[max(0, start - 80) : start].rstrip(" \n")
        return _ANNOUNCEMENT.search(before) is not None

    def _group(self, match: re.Match[str]) -> int:
        return match.re.groupindex["mark"] - 1

    def _get_number(self, match: re.Match[str]) -> int:
        return int(match[self._group(match)])

    def _is_list_item(
        self, match: re.Match[str], numbered: list[tuple[re.Match[str], re.Match[str]]]
    ) -> bool:
        """Return whether a line is an item of a numbered list: "1. It was 50 mg."."""
        if match["word"] or match["id"] or not match["mark"].startswith((".", ")")):
            return False
        items = [
            self._get_number(other) for _, other in numbered if other["mark"].startswith((".", ")"))
        ]
        return (
            len(items) > 1
            and items[0] in (0, 1)
            and items == list(range(items[0], items[0] + len(items)))
        )

    def _resembles(self, line: re.Match[str], match: re.Match[str]) -> bool:
        """Return whether a numbered line is similar to that sentence of the note; true if the note is not known."""
        return not self._sentences or self._measure(match, line.end()) >= _MIN_RESEMBLANCE

    def _measure(self, match: re.Match[str], end: int) -> float:
        sentence = self._sentences.get(self._get_number(match), "")
        text = self._plain[match.end() : end]
        return _measure_similarity(_split_words(text), _split_words(sentence))

    def _repeats_note(self, line: re.Match[str], match: re.Match[str]) -> bool:
        sentence = self._sentences.get(self._get_number(match), "")
        return _split_words(self._plain[match.end() : line.end()]) == _split_words(sentence)

    def _add_number(self, match: re.Match[str], line: re.Match[str], rule: str) -> None:
        self._add(self._get_number(match), line.start(), line.end(), rule, is_final=True)

    # Sentences.

    def add_statements(self) -> None:
        """Add the statements of the reasoning that the note is correct or that a sentence is wrong."""
        flat = self._flat
        for match in _TOKEN.finditer(flat):
            self._add_token(match)
        lower = flat.lower()
        for statement in _CALLS_CORRECT:
            for match in statement.find_all(flat, lower):
                if self._may_call_correct(match):
                    self._add(
                        NO_ERROR, match.start(), match.end(), "stated verdict", is_final=False
                    )
        for statement in _CALLS_WRONG_SOMEWHERE:
            for match in statement.find_all(flat, lower):
                if not self._is_doubted(match.start(), match.end()):
                    self._add(
                        SOME_ERROR, match.start(), match.end(), "stated verdict", is_final=False
                    )
        if not _DIGIT.search(flat):
            return
        for statement in _CALLS_SENTENCE_WRONG:
            for match in statement.find_all(flat, lower):
                self._add_reference(match)
        for match in _BARE_WRONG.finditer(flat):
            if int(match[1]) in self._sentences:
                self._add_reference(match)
        self._add_listed_errors()
        for match in _LABELLED.finditer(flat):
            if not self._is_doubted(match.start(), match.end()) and not _COUNT.match(
                flat, match.end()
            ):
                self._add(int(match[1]), match.start(), match.end(), "final answer", is_final=True)

    def _add_token(self, match: re.Match[str]) -> None:
        start = self._find_sentence_start(match.start())
        end = self._find_sentence_end(match.end())
        before, after = self._flat[start : match.start()], self._flat[match.end() : end]
        is_at_edge = not before.strip(" -=>:'.+✅✔✓☑") or not after.strip(" '.)✅✔✓☑")
        if not is_at_edge and not _BEFORE_TOKEN.search(before):
            return
        clause = _CLAUSE_END.split(before.rstrip(" :,"))[-1]
        if (_DOUBT.search(clause) or _CONDITION.match(before)) and not _CHOSEN.search(before):
            return
        if _NEGATION.search(clause) or (_EXCEPTION.search(after) and not _HARMLESS.search(after)):
            return
        self._add(NO_ERROR, match.start(), match.end(), "final answer", is_final=True)

    def _may_call_correct(self, match: re.Match[str]) -> bool:
        start, end = self._find_sentence_start(match.start()), self._find_sentence_end(match.end())
        before, after = self._flat[start : match.start()], self._flat[match.end() : end]
        clause = _CLAUSE_END.split(before)[-1] + self._flat[match.start() : end]
        if (
            _REFERENCE_PATTERN.search(clause)
            or _PARTIAL.search(match[0])
            or _PARTIAL.search(after[:40])
        ):
            return False
        is_doubted = _DOUBT.search(before) or _DOUBT.search(after) or _CONDITION.match(before)
        if is_doubted and not _CHOSEN.search(before):
            return False
        if _EXCEPTION.search(after) and not _HARMLESS.search(after):
            return False
        if _TURN_NEXT.match(self._flat, end):
            return False
        return not _NEGATION.search(_CLAUSE_END.split(before)[-1])

    def _is_doubted(self, start: int, end: int) -> bool:
        sentence_start, sentence_end = (
            self._find_sentence_start(start),
            self._find_sentence_end(end),
        )
        before = self._flat[sentence_start:start]
        after = self._flat[end:sentence_end]
        clause_before = _CLAUSE_END.split(before)[-1]
        clause_after = _CLAUSE_END.split(after)[0]
        if _EXCUSE.search(after):
            return True
        if _CHOSEN.search(self._flat, sentence_start, end):
            return False
        if _CONDITION.match(before) or after.rstrip().endswith("?"):
            return True
        if any(
            _DOUBT.search(part) for part in (clause_before, self._flat[start:end], clause_after)
        ):
            return True
        return _NEGATION.search(clause_before) is not None

    def _add_reference(self, match: re.Match[str]) -> None:
        number = next(
            group
            for name, group in zip(range(1, 99), match.groups(), strict=False)
            if group and group.isdigit()
        )
        between = match.groupdict().get("between") or ""
        if (
            "flag" in between
            or _NEGATION.search(between)
            or "count" in between
            or (_REFERENCE_PATTERN.search(between) and match.re is not _WRONG_AFTER)
        ):
            return
        if match.re is _WRONG_AFTER and (
            _REFERENCE_PATTERN.search(between) or _FINE.search(between)
        ):
            return
        if self._is_doubted(match.start(), match.end()):
            return
        number_end = match.start("between") if match.re is _WRONG_AFTER else match.end()
        if _COUNT.match(self._flat, number_end):
            return
        if _SEVERAL.match(self._flat, number_end):
            self._add(SOME_ERROR, match.start(), match.end(), "stated verdict", is_final=False)
            return
        self._add(int(number), match.start(), match.end(), "stated verdict", is_final=False)

    def _add_listed_errors(self) -> None:
        """Add the sentences of a list whose entry says "This one is wrong."."""
        for line in _LINE.finditer(self._flat):
            head = _ID_LINE.match(self._flat, line.start(), line.end())
            if head is None or head.end() >= line.end():
                continue
            position = head.end()
            for end in [
                *(end.end() for end in _SENTENCE_END.finditer(self._flat, position, line.end())),
                line.end(),
            ]:
                wrong = _THIS_WRONG.match(self._flat[position:end].strip())
                if wrong and not _NEGATION.search(wrong[0]):
                    self._add(
                        self._get_number(head), head.start(), end, "stated verdict", is_final=False
                    )
                position = end

    def _find_sentence_start(self, position: int) -> int:
        start = max(0, position - 400)
        ends = [match.end() for match in _SENTENCE_END.finditer(self._flat, start, position)]
        return ends[-1] if ends else start

    def _find_sentence_end(self, position: int) -> int:
        match = _SENTENCE_END.search(self._flat, position, position + 400)
        return match.start() + 1 if match else min(len(self._flat), position + 400)

    def _add(self, verdict: int, start: int, end: int, rule: str, *, is_final: bool) -> None:
        if verdict >= 0 and self._sentences and verdict not in self._sentences:
            verdict = SOME_ERROR
            self._names_unknown_number = True
        self._claims.append(_Claim(verdict, start, end, rule, is_final))

    # The decision.

    def decide(self) -> _Claim | None:
        """Return the claim that the whole text makes, or None if its claims are absent or contradict each other."""
        claims = sorted(self._claims, key=lambda claim: (claim.start, claim.end))
        finals = [claim for claim in claims if claim.is_final]
        chosen = _choose(finals) if finals else _choose(claims)
        if finals and chosen is not None:
            chosen = self._compare_with_reasoning(
                chosen, [claim for claim in claims if not claim.is_final]
            )
        if (chosen is None and not claims) or (chosen is not None and chosen.verdict == SOME_ERROR):
            chosen = self._find_quoted(chosen)
        if chosen is None or _RETRACTION.search(self._flat, chosen.end):
            return None
        return chosen

    def _compare_with_reasoning(self, final: _Claim, reasoning: list[_Claim]) -> _Claim | None:
        errors = [claim for claim in reasoning if claim.verdict != NO_ERROR]
        if final.verdict == NO_ERROR:
            after = any(claim.start > final.start for claim in errors)
            before = errors and not _TURN.search(self._flat, errors[-1].end, final.start)
            return None if after or before else final
        if final.verdict == SOME_ERROR:
            named = {claim.verdict: claim for claim in errors if claim.verdict >= 0}
            return next(iter(named.values())) if len(named) == 1 else final
        return final

    def _find_quoted(self, claim: _Claim | None) -> _Claim | None:
        """Return the claim with the sentence that the text quotes or corrects without its number."""
        if not self._sentences or self._names_unknown_number:
            return claim
        found: dict[int, tuple[int, int]] = {}
        corrected = list(_CORRECTED.finditer(self._plain))
        passages = [(match.start(1), match.end(1)) for match in corrected]
        if not passages:
            quoted = list(_QUOTED.finditer(self._plain))
            passages = [match.span(1) if match[1] else match.span(2) for match in quoted]
            if claim is None:
                passages = [
                    span
                    for span in passages
                    if _CALLS_WRONG.search(self._plain[max(0, span[0] - 80) : span[0]])
                ]
        if not passages and "\n" not in self._plain.strip():
            is_repeated = any(
                _split_words(self._plain) == _split_words(text) for text in self._sentences.values()
            )
            passages = [] if is_repeated else [(0, len(self._plain))]
        for start, end in passages[:_MAX_LOOKED_UP]:
            number = _look_up(self._plain[start:end], self._sentences)
            if number is not None:
                found.setdefault(number, (start, end))
        if len(found) != 1:
            return claim
        ((number, (start, end)),) = found.items()
        return _Claim(number, start, end, "quoted sentence", True)


def _choose(claims: list[_Claim]) -> _Claim | None:
    """Return the claim on which all agree; two different wrong sentences are an error that is not named."""
    if not claims or any(claim.verdict == _CONTRADICTION for claim in claims):
        return None
    verdicts = {claim.verdict for claim in claims}
    numbers = {verdict for verdict in verdicts if verdict >= 0}
    if NO_ERROR in verdicts and len(verdicts) > 1:
        return None
    labelled = [claim for claim in claims if claim.rule == "final answer"]
    if len(numbers) > 1:
        if labelled and len({claim.verdict for claim in labelled}) == 1:
            return labelled[-1]
        return replace(claims[0], verdict=SOME_ERROR)
    if numbers:
        return next(claim for claim in claims if claim.verdict >= 0)
    return claims[-1]


def _look_up(text: str, sentences: Sentences) -> int | None:
    """Return the number of the sentence that a text repeats or corrects, or None if none is clearly the most similar."""
    words = _split_words(text)
    if len(words) < 2:
        return None
    ranked = sorted(
        (
            (_measure_similarity(words, _split_words(sentence)), -number)
            for number, sentence in sentences.items()
        ),
        reverse=True,
    )
    if not ranked or ranked[0][0] < _MIN_SIMILARITY:
        return None
    if len(ranked) > 1 and ranked[0][0] - ranked[1][0] < _MIN_LEAD:
        return None
    return -ranked[0][1]


def _split_words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _measure_similarity(a: frozenset[str], b: frozenset[str]) -> float:
    """Return the share of words that two texts have in common, from 0 to 1."""
    return 2 * len(a & b) / (len(a) + len(b)) if a and b else 0.0


def list_sentences(prompt: str) -> dict[int, str]:
    """Return the numbered sentences of the last note in a prompt, or nothing if it has none."""
    sentences: dict[int, str] = {}
    for match in _NOTE_LINE.finditer(prompt):
        number = int(match[1])
        if number == 0:
            sentences = {}
        if number == len(sentences):
            sentences[number] = match[2]
    return sentences
