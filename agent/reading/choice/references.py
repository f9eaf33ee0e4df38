"""Mark the places where an answer refers to an option by its text or by a letter that cannot be anything else.

Marking replaces a reference by one sign that says which option is meant, followed by padding, so that all positions
stay the same. What follows reads the marked text: the words inside an option's text are gone, so "not" there denies
nothing, and one sign stands for "C. Heparin", "(C)", "option C", "heparin" and "heparin (option C)" alike.

A lone letter ("the answer is C") is not marked here, because whether it refers to an option depends on its place.
"""

import re
from bisect import bisect_right
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from agent.reading.choice.option_words import OptionWords
from agent.reading.choice.replies import load_replies
from agent.reading.words import drop_punctuation, plain_words

MAX_OPTIONS = 60
_BY_LETTER = 0xE000
_BY_TEXT = 0xE040
_BY_BOTH = 0xE080
CONTRADICTION = -1
"""The option of a reference whose letter and text name different options: "B (Aspirin)"."""
UNKNOWN = -2
"""The option of a letter beyond the options: F of A to D."""

_SIGN_OF_CONTRADICTION = "\ue0f0"
_SIGN_OF_UNKNOWN = "\ue0f1"
PADDING = "\ue0ff"
SIGNS = "\ue000-\ue0f1"
"""The signs, as a range in a character class."""
TEXT_SIGNS = "\ue040-\ue07f"
BOTH_SIGNS = "\ue080-\ue0bf"
LETTER_SIGNS = "\ue000-\ue03f\ue080-\ue0f1"

_MIN_PHRASE = 3  # words of an option that is more than a name
_MAX_REFERENCES = 300  # of one option
_BECAUSE = r"(?:because|since|as|due|for|given|based|which|where|rather|instead)\b"
# Common words are marked only where an answer can stand: "no" in "Answer: no." but not in "no doubt".
_COMMON_WORDS = frozenset(
    [
        "none",
        "both",
        "all",
        "true",
        "false",
        "maybe",
        "never",
        "always",
        "same",
        "neither",
        "either",
        "nothing",
        "other",
        "uncertain",
        "unknown",
    ]
)
_BEFORE_COMMON_WORD = re.compile(
    r"(?:^|[\n.,:;!?=>→⇒(\[\"'/-]\s?[(\[\"']?|\b(?:is|be|was|are|say|saying|answer|choose|pick|select|lean|leaning|vote|a|an|the|definite|definitely|clear"
    r"|clearly|likely|probably|certainly|maybe|perhaps|but|therefore|thus|so|hence|overall|option|choice|it's|that's|still|simply|to|as|with"
    r"|toward|towards|(?:settl|decid)(?:e|ed|ing)\son|suggests?|conclude|conclusion|[A-Za-z][.):]?)\s[\"'(]?)$",
    re.IGNORECASE,
)
_AFTER_COMMON_WORD = re.compile(
    rf"\s?$|\n|\s?[.,;:!)\]}}\"'<✓](?![\w])(?!\s\d)|\s[-(\[]|\s\d[.)]\s|\s(?:{_BECAUSE}|in|here|for|to|with)\b"
    r"|\s(?:is|seems)\s(?:clearly\s|therefore\s)?(?:the\s)?(?:best|correct|right|most\s(?:likely|appropriate)|answer)\b"
)
_AFTER_REFERENCE = re.compile(
    r"[)\]\"'\s]{0,3}(?:$|[.;!\n)])|,?\s(?:or|and|because|since|as)\b|\sis\s(?:right|correct)\b"
)

_CALLED = r"(?:(?i:(?:answer[ ])?(?:option|choice|letter))[ ])"
_LETTER_BEFORE = re.compile(
    rf"(?:^|(?<=[\s\"'(\[<|]))(?P<called>{_CALLED})?(?P<open>[(\[<\"']?)(?P<letter>[A-Za-z])"
    r"(?P<close>[)\]>\"']?)(?P<mark>[ ]?(?:[.:,)=/|;]|->|→|-(?=[ ])){0,2})"
    r"[ ]?(?P<inner>[\"'(\[]{0,2})(?:(?i:the|an?)[ ])?\Z"
)
_LETTER_AFTER = re.compile(
    r"[\"')\]]?,?\s?[(\[](?:(?i:option|choice|answer|letter)\s)?(?P<bracketed>[A-Z])[)\]]"
    r"|[\"')\]]?,?[ ](?:which is[ ]|that is[ ]|i\.e\.,?[ ]|or[ ]|-[ ])?"
    r"(?i:option|choice|answer)[ ][(\"']?(?P<called>[A-Z])"
    r"[)\"']?(?![\w'-])"
)
_MARKED_LETTER = re.compile(
    rf"{_CALLED}?[(\[](?:(?i:option|choice|answer)[ ])?([A-Z])[)\]](?!-?\w)"
    r"|\b(?i:(?:answer[ ])?(?:options?|choices?|letters?|alternative))[ ][\"']?([A-HJ-Z]|I(?![ ][a-z]))[\"']?(?![\w'-])"
    r"|\b(?i:option|choice)[ ][\"']?([a-z])[\"']?(?=\s?(?:$|\n|[.,;:!)](?!\w))|\s(?:is|was|seems|fits)\s)"
    r"|\b(?i:option|choice)[ ]\(([a-z])\)"
)
# A letter is marked only beside one of these.
_NEEDED_FOR_LETTER = ("(", "[", "option", "choice", "letter", "alternative")
_STATES = re.compile(r"\b(?:is|be|was|choose|answer|option|select|say|with)\s$", re.IGNORECASE)
_FIRST_LETTERS = re.compile(r"[^\w]*([a-z]{1,6})")
_BEGINS_WITH_NUMBER = re.compile(
    r"\W*(?:\d|(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|I{1,3}|IV|V|first|second|third|fourth)\b)",
    re.IGNORECASE,
)
_SUMMARY = re.compile(r"(?:both|all|none|neither|any)\b|[a-e]{2,4}$|[a-e] and [a-e]\b")
_ARTICLE = re.compile(r"^\s*(?:the|an?)\s(?=\w\w)", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?]\s(?=[A-Z])")
_LETTER_AND_REPLY = re.compile(
    r"(?<![\w'-])(?P<letter>[A-J])(?:[.):]\s|\s?[(])(?P<reply>[^\W\d]{2,12})\b[)]?(?=\s?[.,;:!)]|\s?$|\n|\s-\s)"
)
_LINE = re.compile(r"[^\n]+")
_TOKEN = re.compile(r"[^ ]+")
_CLOSING = {"(": ")", "[": "]", '"': '"', "'": "'", "<": ">"}


class _Span(NamedTuple):
    start: int
    end: int
    sign: str


class OptionTexts:
    """A question's options, prepared for finding their texts in answers."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.texts = texts
        self.count = len(texts)
        self.plain_texts = [plain_words(text) for text in texts]
        self._one_sentence = {
            index for index, text in enumerate(texts) if not _SENTENCE_END.search(text)
        }
        self._keys: dict[str, int | None] = {}
        self._beginnings: dict[str, str] = {}
        for index in range(min(len(texts), MAX_OPTIONS)):
            without_article = _drop_article(texts[index])
            has_article = without_article is not texts[index]
            words = plain_words(without_article) if has_article else self.plain_texts[index]
            key = _join_words(words.split())
            # A letter always means the option labelled with it. Two options with the same text cannot be told apart.
            if len(key) > 1 or not key.isalpha():
                self._keys[key] = None if key in self._keys else index
                first_letters = _FIRST_LETTERS.match(texts[index].lower())
                self._beginnings[key] = first_letters[1] if first_letters else ""
        self._keys.pop("", None)

    @cached_property
    def has_common_word(self) -> bool:
        """Whether an option is a word such as "yes" or "none", which says too little to be found among others."""
        return any(map(self.is_common_word, range(self.count)))

    @cached_property
    def has_numbers(self) -> bool:
        """Whether an option's text begins with a number, so that "number 2" may mean its text."""
        return any(_BEGINS_WITH_NUMBER.match(text) for text in self.texts)

    @cached_property
    def has_summary(self) -> bool:
        """Whether an option stands for others, as "both" and "all of the above" do."""
        return any(_SUMMARY.match(text) for text in self.plain_texts)

    @cached_property
    def are_phrases(self) -> bool:
        """Whether most options are statements or phrases rather than names."""
        phrases = [text for text in self.plain_texts if len(text.split()) >= _MIN_PHRASE]
        return 2 * len(phrases) > self.count

    @cached_property
    def words(self) -> OptionWords:
        """The options' words, which only few answers need."""
        return OptionWords(self.texts[:MAX_OPTIONS])

    def get_letter_option(self, letter: str) -> int:
        """Return the option that a letter names, or UNKNOWN."""
        index = ord(letter.upper()) - ord("A")
        return index if 0 <= index < self.count else UNKNOWN

    def is_common(self, option: int) -> bool:
        """Return whether an option's text is a word such as "yes", which begins many sentences."""
        plain_text = self.plain_texts[option]
        return len(plain_text) <= 3 or plain_text in _COMMON_WORDS

    def find_name(self, initial: str, species: str) -> int | None:
        """Return the option with the full name of "B. dermatitidis"."""
        name = re.compile(rf"\b{initial}[a-z]+ {species}\b", re.IGNORECASE)
        found = [index for index, text in enumerate(self.texts) if name.search(text)]
        return found[0] if len(found) == 1 else None

    def is_common_word(self, option: int) -> bool:
        """Return whether an option is "yes", "no" or another word that marks nothing in most sentences."""
        plain_text = self.plain_texts[option]
        return plain_text in {"yes", "no", "maybe", "true", "false"}

    def is_first_word(self, option: int, word: str) -> bool:
        """Return whether the option's text begins with the word and is longer."""
        return self.plain_texts[option].startswith(word.lower() + " ")

    def mark(self, text: str) -> str:
        """Return the text with every reference replaced by its sign and padding, of the same length."""
        spans = [self._join_letter(text, span) for span in self._find_texts(text)]
        spans = _drop_overlapping([*self._find_translations(text), *spans])
        starts = [span.start for span in spans]
        marked_letters: list[_Span] = []
        for match in _find_marked_letters(text):
            following = bisect_right(starts, match.start())
            overlaps_previous = following > 0 and spans[following - 1].end > match.start()
            overlaps_next = following < len(spans) and starts[following] < match.end()
            if not overlaps_previous and not overlaps_next:
                sign = self._sign_letter(match[match.lastindex or 0])
                # "[S]" is a concentration.
                if sign == _SIGN_OF_UNKNOWN and match[0][0] == "[":
                    continue
                marked_letters.append(_Span(match.start(), match.end(), sign))
        return _write_signs(text, sorted(spans + marked_letters))

    def _find_translations(self, text: str) -> list[_Span]:
        """Find a letter with yes, no or maybe in another language: "B. nein", "A (sí)"."""
        meanings = {"yes", "no"}
        if not meanings <= set(self.plain_texts):
            return []
        replies = load_replies()
        spans: list[_Span] = []
        for match in islice(_LETTER_AND_REPLY.finditer(text), _MAX_REFERENCES):
            meaning = replies.get(match["reply"].lower())
            if meaning is None or meaning not in self.plain_texts:
                continue
            option = self.plain_texts.index(meaning)
            is_same = self.get_letter_option(match["letter"]) == option
            sign = chr(_BY_BOTH + option) if is_same else _SIGN_OF_CONTRADICTION
            spans.append(_Span(*match.span(), sign))
        return spans

    def _sign_letter(self, letter: str) -> str:
        option = self.get_letter_option(letter)
        return _SIGN_OF_UNKNOWN if option == UNKNOWN else chr(_BY_LETTER + option)

    def _find_texts(self, text: str) -> list[_Span]:
        """Find the options' texts at the boundaries of words; the longest where several begin."""
        lower_text = text.lower()
        keys = [
            (key, option)
            for key, option in self._keys.items()
            if option is not None and self._beginnings[key] in lower_text
        ]
        if not keys:
            return []
        words = _join_text(text)
        spans: list[_Span] = []
        for key, option in keys:
            is_common = len(key) <= 3 or key in _COMMON_WORDS
            found = 0
            position = words.joined.find(key)
            while position >= 0 and found < _MAX_REFERENCES:
                start = words.starts.get(position)
                end = words.ends.get(position + len(key))
                if (
                    start is not None
                    and end is not None
                    and (not is_common or _stands_alone(text, start, end))
                    and not (
                        option in self._one_sentence and _SENTENCE_END.search(text, start, end)
                    )
                ):
                    spans.append(_Span(start, end, chr(_BY_TEXT + option)))
                found += 1
                position = words.joined.find(key, position + 1)
        return _drop_overlapping(spans)

    def _join_letter(self, text: str, span: _Span) -> _Span:
        """Extend the span of an option's text by a letter before or after it: "C. Heparin", "heparin (option C)"."""
        option = ord(span.sign) - _BY_TEXT
        both = chr(_BY_BOTH + option)
        start, end = span.start, span.end
        after = _LETTER_AFTER.match(text, end)
        if after:
            letter = after["bracketed"] or after["called"]
            if self.get_letter_option(letter) == option:
                span = _Span(start, after.end(), both)
            elif after["bracketed"]:
                return _Span(start, after.end(), _SIGN_OF_CONTRADICTION)
        before = _LETTER_BEFORE.search(text, max(0, start - 24), start)
        if not before:
            return span
        is_marked = bool(
            before["mark"].strip() or before["open"] or before["close"] or before["called"]
        )
        is_marked = is_marked or before["inner"][:1] in {"(", "["}
        letter = before["letter"]
        if not (letter.isupper() or (is_marked and before["mark"] not in {",", "="})):
            return span
        if self.get_letter_option(letter) == option:
            opened = before["inner"][:1]
            if opened and text[end : end + 1] == _CLOSING[opened] and span.end == end:
                end += 1
            return _Span(before.start(), max(end, span.end), both)
        at_clause_start = (
            before.start() == 0
            or text[: before.start()].rstrip(" (\"'")[-1:]
            in {"", "\n", ":", ".", ",", ";", "!", "?", "-", "=", ">"}
            or _STATES.search(text, max(0, before.start() - 12), before.start())
        )
        if is_marked and at_clause_start and _AFTER_REFERENCE.match(text, end):
            return _Span(before.start(), end, _SIGN_OF_CONTRADICTION)
        return span


class _JoinedWords(NamedTuple):
    """A text's words without spaces, and the positions in the text of the words' boundaries."""

    joined: str
    starts: dict[int, int]
    ends: dict[int, int]


def _join_text(text: str) -> _JoinedWords:
    pieces: list[str] = []
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    length = 0
    previous = ""
    for line in _LINE.finditer(text):
        if pieces:
            pieces.append("\n")
            length += 1
            previous = ""
        for match in _TOKEN.finditer(line[0]):
            token = match[0]
            word = _get_plain_word(token)
            if not word:
                continue
            if previous.isdigit() and word[0].isdigit():
                pieces.append(" ")
                length += 1
            start = line.start() + match.start()
            end = start + len(token)
            if len(word) != len(token):
                lower_token = token.lower()
                start += max(0, lower_token.find(word[0]))
                end -= len(token) - 1 - lower_token.rfind(word[-1])
            starts[length] = start
            pieces.append(word)
            length += len(word)
            ends[length] = end
            previous = word[-1]
    return _JoinedWords("".join(pieces), starts, ends)


def _get_plain_word(token: str) -> str:
    if token.isalnum():
        return token.lower()
    # Most other tokens are words before a mark that never changes a value.
    if token[-1] in ".,;:!?" and token[:-1].isalnum():
        return token[:-1].lower()
    return drop_punctuation(token).lower()


def _join_words(words: list[str]) -> str:
    """Join words without spaces, except between two digits, so that "low-molecular" equals "low molecular"."""
    joined = ""
    for word in words:
        joined += f" {word}" if joined[-1:].isdigit() and word[0].isdigit() else word
    return joined


def _drop_article(text: str) -> str:
    return _ARTICLE.sub("", text)


def _find_marked_letters(text: str) -> list[re.Match[str]]:
    lower_text = text.lower()
    if not any(map(lower_text.__contains__, _NEEDED_FOR_LETTER)):
        return []
    return list(_MARKED_LETTER.finditer(text))


def _stands_alone(text: str, start: int, end: int) -> bool:
    return (
        _BEFORE_COMMON_WORD.search(text, max(0, start - 16), start) is not None
        and _AFTER_COMMON_WORD.match(text, end) is not None
    )


def _drop_overlapping(spans: list[_Span]) -> list[_Span]:
    """Return the spans in order; of those that overlap, the first and longest."""
    kept: list[_Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return kept


def _write_signs(text: str, spans: list[_Span]) -> str:
    pieces: list[str] = []
    copied = 0
    for span in spans:
        pieces += [text[copied : span.start], span.sign, PADDING * (span.end - span.start - 1)]
        copied = span.end
    pieces.append(text[copied:])
    return "".join(pieces)


def decode(sign: str) -> int:
    """Return the option that a sign stands for, or CONTRADICTION or UNKNOWN."""
    if sign == _SIGN_OF_CONTRADICTION:
        return CONTRADICTION
    return UNKNOWN if sign == _SIGN_OF_UNKNOWN else (ord(sign) - _BY_LETTER) % 0x40
