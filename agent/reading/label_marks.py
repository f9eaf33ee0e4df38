"""Mark the places where an answer names one of a benchmark's labels: "1", "hallucinated", "hallucinated (1)". Pure.

The signs are those of the reader of options (`agent.reading.choice.references`), so that its readers of statements and
lines can be used for labels. A label of one digit is marked only where a label is expected, because other digits are
frequent: "group 0", "1 of the claims". A label's words are marked where they stand alone; "It is true that" names no
label.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from agent.reading.choice.references import (
    CONTRADICTION,
    PADDING,
    UNKNOWN,
    OptionTexts,
)
from agent.reading.label_notation import compile_sentence, is_sentence
from agent.reading.label_sentences import LabelSentence
from agent.reading.statements import find_last_retraction, find_undecided
from agent.reading.words import plain_words

Labels = tuple[tuple[str, ...], ...]
"""Every label, followed by the other words that mean it."""

_BY_LETTER = 0xE000
_BY_TEXT = 0xE040
_BY_BOTH = 0xE080
_SIGN_OF_CONTRADICTION = "\ue0f0"
_MAX_MARKS = 400
_MAX_BOXES_OF_LINE = 10
_MAX_CODE_LENGTH = 2
_DIGIT_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

_CODE_SIGNS = "\ue000-\ue03f\ue080-\ue0bf"
_TEXT_SIGNS = "\ue040-\ue07f"

_NOUN = (
    r"(?:answer|judge?ment|verdict|label|rating|class(?:ification)?|category|decision|conclusion|output|response|digit"
    r"|code|assessment|evaluation|prediction|determination|choice|vote|pick|flag|guess|veredicto|urteil|respuesta|resposta|antwort|réponse|jugement|giudizio|risposta|bewertung|juicio|avaliação|оценка|ответ|outcome|call|take|bottom\sline|tl;dr)"
)
_MEASURE = r"(?:score|grade|result|severity|status|level|risk|urgency|priority|triage)"
_IS = (
    r"(?:[\"']?\s?(?:::?|=|->|=>|→|⇒)|'s|\s(?:is|would\sbe|should\sbe|must\sbe|will\sbe|has\sto\sbe|remains|becomes|as|of|ist|es|est|é|è|está|lautet)"
    r"|\s-(?=\s))"
)
_OF_WHAT = r"(?:\s(?:to|for|in|of|here|on|about)(?:\s(?:\w{1,20}[\s'-]){0,6}?\w{1,20})?)?"
# "(0 or 1)", "(0 = true, 1 = hallucinated)"
_LEGEND = r"(?:\s?\([^()\n]{3,60}\))?"
_ADVERBS = (
    r"(?:(?:therefore|thus|clearly|probably|likely|(?:most|very|highly)\slikely|almost\scertainly|surely|definitely|certainly|indeed|still|simply|hence|then|overall|actually"
    r"|also|entirely|completely|fully|largely|obviously|most\sprobably|like|a|an|una?|une|eine?|uma|the(?=\s(?:digit|label|number|score|option))|digit|label|number|score|option|\d{1,3}\s?%|that|it|is|it's|it\sis|as|to\sbe|be)[\s,]{1,2}){0,4}"
)
_OPENING = r"[\"'(\[<{]{0,2}"
_VERB = (
    r"(?:say|choose|chose|write|pick|select|go\swith|going\swith|go\sfor|settle\s(?:on|for)|give|gets?|assign|answer|put(?:\sdown)?"
    r"|vote(?:\sfor)?|mark|rate|label|judge|classify|call|consider|deem|stick\swith|output|enter|report|submit|return|flag|file|stamp|chang(?:e|ing)|stay(?:ing)?\swith"
    r"|lean(?:ing)?\s(?:towards?|to)|end(?:ed)?\sup\s(?:with|at)|switch(?:ed)?\s(?:from\s\S{1,4}\s)?to|conclude|declare|guess|suspect|bet\son|make)"
)
_OBJECT = (
    r"(?:\s(?:it|this|that|them|the\s(?:\w{1,12}\s)?(?:answer|response|statement|text|case|note)))?"
)
FINAL = re.compile(
    rf"\b(?:final|overall)\s(?:\w{{1,12}}\s)?(?:{_NOUN}{_OF_WHAT}{_LEGEND}{_IS}\s?|[:=]\s?){_ADVERBS}{_OPENING}"
)
"""Words that announce the final label."""
STATED = re.compile(
    rf"\b{_NOUN}[\"']?{_OF_WHAT}{_LEGEND}{_IS}\s?{_ADVERBS}{_OPENING}"
    rf"|(?:^|(?<=\n)|(?<=[.!?]\s)){_MEASURE}\s?[:=]\s?{_OPENING}|\b{_MEASURE}{_OF_WHAT}{_IS}\s?{_ADVERBS}{_OPENING}(?=[{_TEXT_SIGNS}])"
    rf"|(?:^|(?<=\n))(?:assistant|model|ai|a|j|ans|final|overall|ответ|вердикт)\s?[:=]\s?{_OPENING}|(?<=[.;]\s)(?:final|overall)\s?:\s?{_OPENING}"
    rf"|(?:答案|判断|判定|结论|結論|回答|评价|評価)\s?[是为はが]?\s?:?\s?{_OPENING}"
    rf"|(?:答案|判断|判定|结论|結論|回答|评价|評価)\s?[是为はが][\u3040-\u30ff\u4e00-\u9fff]{{1,8}}\s?[(](?=[{_CODE_SIGNS}\d][)])"
    rf"|(?:^|(?<=\n))[(]?0\s?(?:or|/)\s?1[)]?\s?[:=]\s?{_OPENING}"
    rf"|\b(?:i(?:'d|'ll|'m|\swould|\swill|\smust|\sam|\scan|\shave\sto|\shave|'ve)?|we|to|and|so|thus|therefore|hence|please|let's|must|^|\n|[.:,]\s)"
    rf"(?:\s(?:\w{{3,12}}ly|still|thus|therefore|hence|now|then|rather|have\sto|would|will|\w{{1,3}}self))?\s?\b{_VERB}{_OBJECT}(?:\s(?:as|with|to|by|that|down|for|under))?"
    rf"\s{_ADVERBS}{_OPENING}"
    rf"|\b(?:return|print)\s?{_OPENING}|\b(?:label|class|digit|judge?ment|verdict|decision|ans)\s{_OPENING}(?=[{_CODE_SIGNS}\d])"
    rf"|\b(?:that|which)(?:'s|\sis|\sgets|\searns|\sdeserves|\smakes\sit|\smeans|\sleaves(?:\s(?:us|me)\swith|\sonly)?)\s{_ADVERBS}{_OPENING}(?=[{_CODE_SIGNS}\dzo])"
    rf"|\b(?:c'est|das\sist|esto\ses|es)\s{_ADVERBS}{_OPENING}(?=[{_TEXT_SIGNS}])"
    rf"|(?:^|(?<=\n)|(?<=[.!]\s))(?:looks?|sounds?|seems?|smells?|appears?|è|é|(?:(?:almost\s)?certainly|(?:most|very|highly)\slikely|surely|probably|likely|definitely|clearly"
    rf"|(?:judged|considered|flagged|marked|labell?ed|rated)(?:\sas)?|in\s(?:sum|short)|on\sbalance|all\stold|tl;dr)\s?[:,]?)\s{_ADVERBS}{_OPENING}(?=[{_TEXT_SIGNS}])"
    rf"|(?:^|(?<=\n)|(?<=[.!]\s))(?:judged|flagged|marked|labell?ed|rated|tl;dr)(?:\sas)?\s?:?\s{_OPENING}(?=[{_CODE_SIGNS}\d])"
    rf"|\bif\s(?:i\s(?:had|have)\sto|forced\sto|i\smust)\s(?:guess|choose|pick|decide|answer)(?:\sone)?\s?[:,]?\s(?:i(?:'d|\swould)\s(?:say|choose|pick|go\swith|write)\s)?{_ADVERBS}{_OPENING}"
    rf"|\bmoney(?:'s|\sis)\son\s{_ADVERBS}{_OPENING}"
    rf"|\b(?:it|this(?:\sone)?|that\sone)(?:'s|\sis|\swould\sbe|\smust\sbe|\sshould\sbe(?:\s(?:labell?ed|marked|judged|classified|rated|flagged|called|considered|deemed))?|\sgets|\searns|\sdeserves|\sdoes|\slooks|\sseems|\sappears|\ssounds|\shas\sbeen|\scontains)?\s{_ADVERBS}{_OPENING}"
    rf"|\b(?:the|this|given|proposed|provided|supplied|suggested|your)\s(?:\w{{1,12}}\s)?(?:answer|response|text|output|reply)\s"
    rf"(?:(?:above|given|provided|here|itself|in\squestion|to\sbe\sjudged)\s)?(?=[{_TEXT_SIGNS}])"
    rf"|\b(?:the|this|given|proposed|provided|supplied|suggested|your)\s(?:\w{{1,12}}\s)?(?:answer|response|(?<!this\s)statement|text|output|reply)\s"
    rf"(?:(?:above|given|provided|here|itself|in\squestion|to\sbe\sjudged|[\"'][^\"'\n]{{1,200}}[\"'])\s)?"
    rf"(?:(?:can|should|must|would|has\sto|may)\s(?:only\s)?be(?:\s(?:considered|judged|called|deemed|regarded|labell?ed|classified|rated|treated))?"
    rf"|(?:is|was)(?:\s(?:considered|judged|deemed))?|has\sbeen|seems|appears|looks|sounds|reads|does|contains|has|shows)\s{_ADVERBS}{_OPENING}"
)
"""Words that announce a label."""
CONCLUSION = re.compile(
    r"(?:(?:(?<=\bso)|(?<=\bthus)|(?<=\bhence)|(?<=\btherefore)|(?<=\bconsequently)|(?<=\boverall)|(?<=\bfinally)|(?<=\bi\ssay)|(?<=\bbut)"
    r"|(?<=\bdonc)|(?<=\bquindi)|(?<=\bdunque)|(?<=\bpor\stanto)|(?<=\bpor\slo\stanto)|(?<=\bportanto)|(?<=\bdus)|(?<=\bdaher)"
    r"|(?<=\bergo)|(?<=\brather)|(?<=\bthought)|(?<=\breflection)|(?<=\bactually)|(?<=\bsummary)|(?<=\bshort)|(?<=\bmake\sthat))[,:]?\s(?:rather\s)?"
    rf"|(?<=->)\s?|(?<=[>→⇒∴])\s?){_ADVERBS}{_OPENING}(?=[{_CODE_SIGNS}\dzo])"
)
"""Words before a label's code that ends its sentence."""

_CODE_END = (
    r"(?![.,]\d)(?!\s?[/%^~±])(?!\s?(?:,|or|and|to|vs\.?|versus|&|\||-|=)\s?(?:CODES)(?!\w))(?!\w|['-]\w)"
    r"(?=\s?(?:$|\n|[.,;:!)\]}\"'<>✓])|\s?[(\[]|\s[-=]\s|\s(?:->|→)|\s(?:because|since|as|given|rather|instead|i\.e\.|meaning|overall|i\s(?:guess|suppose)|(?:the|this)\s(?:answer|response|abstract|knowledge|source|study)"
    r"|then|here|in\smy|i\sthink|definitely|probably|clearly|for\ssure|for\sthis|for\sthe\sanswer|from\sme|it\sis|please)\b)"
)
_CODE_STOP = r"(?=[\"')\]}>]{0,3}\s?(?:$|\n|[.!;,](?!\d)))"
# What may follow a label's words without changing them.
_TAIL = (
    r"\s(?:to\sme|(?:by|in|to|with)\s(?:the|this|your|its)\s(?:\w{1,12}\s)?(?:sources?|knowledge|text|context|abstract|evidence|study"
    r"|passage|information))\b"
)
_WORD_STOP = (
    r"(?=\s?$|\s?\n|\s?[.,;:!)\]}\"'<✓](?!\w)|\s?[(\[]|\s[-=→]|\s(?:because|since|as|given|due|based|which|rather|and|but|here|overall"
    r"|then|detected|found|present|identified|in\smy|i\sthink|i\sguess|i\ssuppose|instead|it\sis|though|although|imo|so|hence|thus|despite|according)\b"
    rf"|{_TAIL})"
)
_NEGATES = re.compile(r"(?:not|no|isn't|doesn't|without|free|non)\b")
_BEFORE_WORD = re.compile(
    r"(?:^|\d%\s|[\n.,:;!?=>(\[{\]\"'|✓✗-]\s?[(\[\"'<]{0,2}|\b(?:is|be|was|are|say|seems|appears|looks|sounds|as|it|this|them|that|therefore|so|thus|hence|but"
    r"|overall|simply|just|still|a|an|the|guess|suspect|surely|judged|considered|flagged|marked|sum|short|likely|probably|clearly|certainly|definitely|obviously|entirely|completely|fully|indeed"
    r"|actually|to|with|for|than|answer|choose|write|verdict|judge?ment|label|it's|that's|this's|rather|factually|plainly|purely|totally|all"
    r"|largely|and|or|being|been|means?|contains|has|shows|like|towards|ist|está|est|es|è|é|c'est|una?|une|eine?|uma|in\sfact|of|no|not|never|answer's|response's|statement)\s[\"'(<]{0,2})$",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:may|might|could|can|possibly|perhaps|maybe|potentially|partly|partially|somewhat|half|mostly|mainly|in\spart|almost(?!\scertainly)|nearly|some\sof|parts?\sof|most\sof"
    r"|either|neither|or|whether|would\shave|as\sif|if)\b(?:\s\w{1,15}){0,3}\s[\"'(]{0,2}$",
    re.IGNORECASE,
)
# "Sentence 3: hallucinated", "Confidence: 1"
_OF_A_PART = re.compile(
    r"\b(?:sentence|claim|point|step|part|fact|criteri\w{1,3}|(?<!this\s)item|line|aspect|element|detail|confidence|certainty|probability|figures?)s?\b"
    r"[^.!?\n]{0,80}(?:[:=]|->|→|\s-)\s?[\"'(]{0,2}$"
    r"|\b(?:otherwise|else|if|unless|when)\b[^.!?\n]{0,80}(?:[:=]|->|→)\s?[\"'(]{0,2}$"
    rf"|(?:^|\n)\s?(?:[-•+]|\d{{1,2}}[.)])\s(?![^\n:]{{0,60}}\b(?:{_NOUN}|overall|final|conclusion)\b)[^\n]{{2,110}}(?:[:=]|->|→|\s-)\s?[\"'(]{{0,2}}$"
    r"|\b(?:hard|difficult|impossible)\sto\s(?:believe|see|imagine|say|tell)\b(?:(?!\bbut\b)[^.!?\n]){0,80}$"
)
_WANTS = re.compile(
    r"\b(?:want\w*|tempt\w*|inclin\w*|meant|scratch|drop|forget|initially|first|used)\b[^.,;!?\n]{0,30}$",
    re.IGNORECASE,
)
_JOINS = (
    r"(?:[\"')\]*]{0,2}\s?(?:[=:;,/|-]|->|→|=>|\.(?=\s)|\())?\s?(?:means?\s|meaning\s|stands\sfor\s|denotes?\s|indicat\w{1,4}\s|i\.?e\.?,?\s|that\sis,?\s"
    r"|being\s|for\s|is\s|it\sis\s|this\sis\s|that\sis\s|as\sin\s|which\smeans\s|because\sit\sis\s|since\sit\sis\s)?(?:(?:the\sanswer|it|this|that)\sis\s|a\s|an\s)?[\"'(\[*]{0,2}"
)
_LEGEND_GAP = re.compile(
    r"[\s,;/|).\]\"']{0,6}(?:\b(?:and|or|while|whereas|but|otherwise)\b\s?)?(?:if\s|for\s)?[\s\-•*(]{0,4}(?:\[.?\]|\(.?\)|[☐✓✗○●■□])?[\s\"'(\[]{0,3}"
)
_NUMBERED_LINE = re.compile(r"^\W{0,5}\d", re.MULTILINE)
_TAIL_AFTER = re.compile(_TAIL)
_REASON_NEXT = re.compile(r"\s-\s|\s?\((?=[^()\n]{0,200}\))")
_LINE = re.compile(r"[^\n]+")
_BOX = re.compile(r"(?:\[[ x✓*]?\]|\([ x✓*]?\)|[☐✓✗○●■□])[ ]?[\"'(]{0,2}")
_BOX_BEFORE = re.compile(rf"(?P<box>{_BOX.pattern})\Z")
_BEFORE_LAST_WORD = re.compile(r"[.!?:]\s")
_MIN_WORDS_BEFORE_COLON = 4
_TICKED = frozenset("x✓*●■")
_BEFORE_LINE = re.compile(
    r"(?:[-•+]\s|[\s\"'(\[<{=>→✓]){0,4}(?:(?:probably|most\slikely|likely|definitely|clearly|certainly|surely|i\sthink|i\sbelieve|i\sguess|i'd\ssay)"
    r"[,:]?\s)?(?:(?:it's|it\sis|a|an|option|choice)\s){0,2}"
)
_BLANK_LIST_MARK = re.compile(r"(?m)^\s?(?:\d{1,2})[.)]\s")
_LONE_LETTER = re.compile(r"(?<![\w'])[B-HJ-Zb-hj-z](?![\w'])")


class Mark(NamedTuple):
    """A place that names a label, or CONTRADICTION; `has_code`, `has_words`: by its code, by its words."""

    start: int
    end: int
    label: int
    has_code: bool
    has_words: bool


class LabelOptions(OptionTexts):
    """A benchmark's labels, prepared for finding them in answers."""

    def __init__(self, labels: Labels) -> None:
        super().__init__(tuple(names[0] for names in labels))
        self.names: dict[str, int] = {}
        self._codes: dict[str, int] = {}
        self.sentences: list[LabelSentence] = []
        words: list[str] = []
        for index, names in enumerate(labels):
            for name in names:
                if is_sentence(name):
                    self.sentences.append(LabelSentence(index, compile_sentence(name)))
                    continue
                self.names[plain_words(name)] = index
                if len(name) <= _MAX_CODE_LENGTH and not name.isalpha():
                    self._codes[name] = index
                    if name.isdigit() and int(name) < len(_DIGIT_WORDS):
                        self._codes[_DIGIT_WORDS[int(name)]] = index
                else:
                    words.append(name)
        words.sort(key=len, reverse=True)
        alternatives = "|".join(
            r"[\s-]?".join(map(re.escape, re.split(r"[\s-]+", word.lower()))) for word in words
        )
        codes = "|".join(sorted(map(re.escape, self._codes), key=len, reverse=True)) or "(?!)"
        self._word = re.compile(rf"(?<![\w-])(?<!\w')(?:{alternatives or '(?!)'})(?![\w-]|'\w)")
        end = _CODE_END.replace("CODES", codes)
        self._code = re.compile(rf"(?P<code>{codes}){end}")
        self._code_at_stop = re.compile(rf"(?P<code>{codes})(?!\w){_CODE_STOP}")
        self._code_before = re.compile(rf"(?<![\w.,/%^=-])(?<!=\s)(?P<code>{codes}){_JOINS}$")
        self._code_after = re.compile(
            rf"[\"')]{{0,2}},?\s?(?:[(\[]\s?(?:label\s|digit\s|=\s?)?|[=:,]\s?|->\s?|→\s?|\s?-\s|(?:is|means|gets|so|as|i\.e\.,?)\s)[\"']?(?P<code>{codes})"
            r"(?![.,]\d|\w|\s?%)[)\]\"']{0,2}"
        )
        others = "|".join(filter(None, (codes, alternatives)))
        self._commonest = re.compile(
            r"\s{0,4}(?P<cue>(?i:(?:the |my )?(?:final )?(?:answer|judge?ment|verdict|label) ?(?:is|:) ?))?"
            rf"(?P<code>{codes})[.]?(?=\n|\s{{0,4}}\Z)\s{{0,4}}"
        )
        self._any_code = re.compile(rf"(?<!\w)(?:{codes})(?!\w)", re.IGNORECASE)
        self._again = re.compile(rf"\s?[(\[]\s?(?P<code>{codes})\s?[)\]]")
        self._contrast = re.compile(
            rf"[\"')]{{0,2}}\s?[,(]?\s?(?:and\s|but\s|-\s)?(?:not|rather\sthan|instead\sof)\s(?:a\s|an\s|the\s|label\s)?[\"'(]?(?P<name>{others})"
            r"(?![.,]\d|\w|\s?%)[\"')]{0,2}"
        )

    def read_quickly(self, answer: str) -> int | None:
        """Return the label of an answer in one of the commonest forms; None if it has another one.

        These are "Judgement: 1", and a code on the first line before a text that names no other label.
        """
        match = self._commonest.match(answer)
        if match is None:
            return None
        label = self._codes[match["code"]]
        rest = answer[match.end() :]
        if not rest:
            return label
        if match["cue"] or "?" in rest or self._any_code.search(rest):
            return None
        if _NUMBERED_LINE.search(rest):
            return None
        if find_last_retraction(answer) is not None or find_undecided(rest) is not None:
            return None
        words = self._word.findall(rest.lower())
        return label if all(self._get_label(word) == label for word in words) else None

    def has_code(self, text: str) -> bool:
        """Return whether a label's code stands anywhere in the text: "0", "one"."""
        return self._any_code.search(text) is not None

    def names_other(self, text: str, start: int, label: int) -> bool:
        """Return whether the text from `start` names another label, in any context."""
        rest = text[start:].lower()
        words = {self._get_label(word) for word in self._word.findall(rest)}
        codes = {self._codes[code] for code in self._any_code.findall(rest)}
        return bool((words | codes) - {label})

    def get_letter_option(self, letter: str) -> int:  # noqa: ARG002 - labels have no letters
        """Return UNKNOWN: a letter names no label."""
        return UNKNOWN

    def is_common(self, option: int) -> bool:  # noqa: ARG002
        """Return True: a sentence may begin with a label."""
        return True

    def is_first_word(self, option: int, word: str) -> bool:  # noqa: ARG002
        """Return False: labels are named in full."""
        return False

    def mark(self, text: str) -> str:
        """Return the text with every reference to a label replaced by a sign and padding, of the same length."""
        marks = self.find_marks(text)
        pieces: list[str] = []
        copied = 0
        for mark in marks:
            pieces += [
                text[copied : mark.start],
                _get_sign(mark),
                PADDING * (mark.end - mark.start - 1),
            ]
            copied = mark.end
            reason = _REASON_NEXT.match(text, mark.end)
            if reason:
                # A dash or bracket begins the reason, which may call something wrong.
                pieces.append(";".ljust(len(reason[0])))
                copied = reason.end()
        pieces.append(text[copied:])
        return _LONE_LETTER.sub("_", "".join(pieces))

    def find_marks(self, text: str) -> list[Mark]:
        """Return the places that name a label, in order. A legend ("0 = true, 1 = hallucinated") names none."""
        lower = text.lower()
        if len(lower) != len(text):
            lower = text
        marks = [*self._find_words(lower), *self._find_codes(lower)]
        kept: list[Mark] = []
        for mark in sorted(marks, key=lambda mark: (mark.start, -mark.end)):
            if not kept or mark.start >= kept[-1].end:
                kept.append(self._extend_by_contrast(lower, mark))
        return _drop_legends(lower, _drop_unticked(lower, kept))

    def _find_words(self, lower: str) -> Iterator[Mark]:
        for match in islice(self._word.finditer(lower), _MAX_MARKS):
            start, end = match.span()
            label = self._get_label(match[0])
            before = self._code_before.search(lower, max(0, start - 40), start)
            after = None if before else self._code_after.match(lower, end)
            codes = {self._codes[found["code"]] for found in (before, after) if found}
            if codes:
                start = before.start() if before else start
                end = after.end() if after else end
                yield Mark(start, end, label if codes == {label} else CONTRADICTION, True, True)
            elif _stands_alone(lower, start, end):
                tail = _TAIL_AFTER.match(lower, end)
                yield Mark(start, tail.end() if tail else end, label, False, True)

    def _get_label(self, words: str) -> int:
        return (
            self.names[plain_words(words)]
            if plain_words(words) in self.names
            else self._find_loosely(words)
        )

    def _find_loosely(self, words: str) -> int:
        squashed = re.sub(r"[\W_]+", "", words)
        return next(
            label for name, label in self.names.items() if re.sub(r"[\W_]+", "", name) == squashed
        )

    def _find_codes(self, lower: str) -> Iterator[Mark]:
        """Yield the codes that stand where a label is expected."""
        if not self._codes:
            return
        announced = {*_iter_line_starts(lower), *_iter_box_ends(lower), *_iter_cue_ends(lower)}
        concluding = {*_iter_conclusion_ends(lower), *_iter_starts_of_last_words(lower)}
        for position in announced:
            yield from self._mark_code(lower, position, self._code)
        for position in concluding - announced:
            yield from self._mark_code(lower, position, self._code_at_stop)

    def _mark_code(self, lower: str, position: int, pattern: re.Pattern[str]) -> Iterator[Mark]:
        """Yield the code at a position, with its repetition in brackets: "1 (1)"."""
        code = pattern.match(lower, position)
        if code is None or _WANTS.search(lower, max(0, position - 60), position):
            return
        if _OF_A_PART.search(lower, max(0, position - 120), position):
            return
        label = self._codes[code["code"]]
        again = self._again.match(lower, code.end())
        if again and self._codes[again["code"]] != label:
            label = CONTRADICTION
        yield Mark(position, (again or code).end(), label, True, False)

    def _extend_by_contrast(self, lower: str, mark: Mark) -> Mark:
        """Extend a mark by the words that deny the other label: "1, not 0", "true rather than hallucinated"."""
        contrast = self._contrast.match(lower, mark.end)
        if contrast is None:
            return mark
        name = contrast["name"]
        other = self._codes[name] if name in self._codes else self._get_label(name)
        return mark if other == mark.label else mark._replace(end=contrast.end())


def _iter_lines(lower: str) -> Iterator[re.Match[str]]:
    return islice(_LINE.finditer(lower), _MAX_MARKS)


def _iter_line_starts(lower: str) -> Iterator[int]:
    """Yield where the words of each line begin, unless the lines are a numbered list, whose numbers look like codes."""
    if len(set(_BLANK_LIST_MARK.findall(lower))) > 1:
        return
    for line in _iter_lines(lower):
        start = _BEFORE_LINE.match(lower, line.start(), line.end())
        if start:
            yield start.end()


def _iter_box_ends(lower: str) -> Iterator[int]:
    """Yield the ends of boxes to tick, before which no word is needed: "[x] 0 [ ] 1"."""
    if not may_have_box(lower):
        return
    for line in _iter_lines(lower):
        for box in islice(_BOX.finditer(lower, line.start(), line.end()), _MAX_BOXES_OF_LINE):
            yield box.end()


def _iter_cue_ends(lower: str) -> Iterator[int]:
    """Yield the ends of words that announce a label: "the verdict is", "final answer:"."""
    may_be_final = "final" in lower or "overall" in lower
    for cue in (FINAL, STATED) if may_be_final else (STATED,):
        for match in islice(cue.finditer(lower), _MAX_MARKS):
            yield match.end()


def _iter_conclusion_ends(lower: str) -> Iterator[int]:
    """Yield the ends of words that begin a conclusion: "so", "therefore"."""
    for match in islice(CONCLUSION.finditer(lower), _MAX_MARKS):
        yield match.end()


def _iter_starts_of_last_words(lower: str) -> Iterator[int]:
    """Yield where the last words of a text begin, after a full stop or colon: "It is accurate. 0"."""
    last = lower.rstrip(" .!\n")
    for boundary in _BEFORE_LAST_WORD.finditer(lower, max(0, len(last) - 40), len(last)):
        # "Accuracy: 0" is a measure, "the answer is accurate: 0" a verdict.
        words = lower[: boundary.start()].rpartition("\n")[2].split()
        if boundary[0][0] != ":" or len(words) >= _MIN_WORDS_BEFORE_COLON:
            yield boundary.end()


def _drop_legends(lower: str, marks: list[Mark]) -> list[Mark]:
    """Drop neighbouring marks that explain different labels."""
    kept: list[Mark] = []
    group: list[Mark] = []
    for mark in marks:
        if not (mark.has_code and mark.has_words):
            kept += [*_drop_if_legend(group), mark]
            group = []
            continue
        if group and not _LEGEND_GAP.fullmatch(lower, group[-1].end, mark.start):
            kept += _drop_if_legend(group)
            group = []
        group.append(mark)
    return kept + _drop_if_legend(group)


def _drop_if_legend(group: list[Mark]) -> list[Mark]:
    explained = {mark.label for mark in group if mark.has_code and mark.has_words}
    return group if len(explained) < 2 else []


def _drop_unticked(lower: str, marks: list[Mark]) -> list[Mark]:
    """If several labels have a box and one of them is ticked, drop the others."""
    boxed = [mark for mark in marks if _get_box(lower, mark)]
    if len({mark.label for mark in boxed}) < 2:
        return marks
    ticked = [mark for mark in boxed if is_ticked(lower, mark)]
    dropped = set(boxed) - set(ticked)
    return [mark for mark in marks if mark not in dropped]


def _get_box(lower: str, mark: Mark) -> str:
    box = _BOX_BEFORE.search(lower, max(0, mark.start - 8), mark.start)
    return box["box"] if box else ""


def may_have_box(lower: str) -> bool:
    """Return whether a text has a box that may be ticked."""
    return _BOX.search(lower) is not None


def is_ticked(lower: str, mark: Mark) -> bool:
    """Return whether a ticked box stands before a label."""
    return not _TICKED.isdisjoint(_get_box(lower, mark))


def _stands_alone(lower: str, start: int, end: int) -> bool:
    if not _AFTER_WORD.match(lower, end) or _DOUBT.search(lower, max(0, start - 60), start):
        return False
    if _OF_A_PART.search(lower, max(0, start - 120), start):
        return False
    is_negated = _NEGATES.match(lower, start) is not None
    return is_negated or _BEFORE_WORD.search(lower, max(0, start - 20), start) is not None


_AFTER_WORD = re.compile(_WORD_STOP)


def _get_sign(mark: Mark) -> str:
    if mark.label == CONTRADICTION:
        return _SIGN_OF_CONTRADICTION
    if mark.has_code and mark.has_words:
        return chr(_BY_BOTH + mark.label)
    return chr((_BY_LETTER if mark.has_code else _BY_TEXT) + mark.label)


@lru_cache(64)
def prepare_labels(labels: Labels) -> LabelOptions:
    """Return the labels prepared for reading."""
    return LabelOptions(labels)
