"""Rewrite an answer without markup and repeated white space, as the readers of options expect it. Pure.

The rewriting is a list of steps. `normalise` applies them to the text alone; `normalise_with_positions` also returns,
for each character of the result, its position in the answer, so that a span found in the result can be shown.
"""

import re
import unicodedata
from dataclasses import dataclass
from string import ascii_uppercase

from agent.reading.words import ASCII_MARKS

# The reader of options marks references with characters of this range, so an answer must not contain any.
_PRIVATE_USE = dict.fromkeys(range(0xE000, 0xE200), " ")
_CHARACTERS = str.maketrans(
    {
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\ufe0f\u00ad", ""),
        # Marks of the direction of writing.
        **dict.fromkeys(
            "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", ""
        ),
        **dict.fromkeys("\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029", "\n"),
        **dict.fromkeys("✔✅☑", "✓"),
        **dict.fromkeys("❌✘❎", "✗"),
        **dict.fromkeys("➡➜➔➙➤⟶⇨👉", "→"),
        # Letters in squares and circles that Unicode does not decompose, and the letters of flags.
        **{chr(0x1F150 + index): letter for index, letter in enumerate(ascii_uppercase)},
        **{chr(0x1F170 + index): letter for index, letter in enumerate(ascii_uppercase)},
        **{chr(0x1F1E6 + index): letter for index, letter in enumerate(ascii_uppercase)},
        # Pictures such as a smile.
        **dict.fromkeys((sign for sign in map(chr, range(0x1F300, 0x1FB00)) if sign != "👉"), " "),
        # The frames of boxes.
        **dict.fromkeys(map(chr, range(0x2500, 0x2580)), " "),
        "\u2014": " - ",
        "。": ". ",
        "、": ", ",
        "।": ". ",
        "،": ",",
        "؛": ";",
        "؟": "?",
    }
)

_CONTROL_CHARACTERS = re.compile(r"[\r\x0b\x0c\x1c-\x1e]")


@dataclass(frozen=True, slots=True)
class _Step:
    """One rewriting: `pattern` is replaced by `parts`, which are texts and the numbers of groups.

    The pattern is tried only if one of `needed` occurs in the text, which is much faster.
    """

    needed: tuple[str, ...]
    pattern: re.Pattern[str]
    parts: tuple[str | int, ...]

    def rewrite(self, match: re.Match[str]) -> str:
        return "".join(part if isinstance(part, str) else match[part] for part in self.parts)


_SPACE_SIGNS = ("  ", "\t", "\x1f", "\u1680", "\u205f", "\u3000", *map(chr, range(0x2000, 0x200B)))
_SPACES = (
    _Step(_SPACE_SIGNS, re.compile(r"[^\S\n]{2,}|[^\S\n ]"), (" ",)),
    _Step(("\n",), re.compile(r" ?\n[ \n]*"), ("\n",)),
    _Step((" ", "\n"), re.compile(r"\A[ \n]+"), ()),
    _Step((" ", "\n"), re.compile(r"[ \n](?=\Z)"), ()),
)
# "1,000", "5 %", "> 5"; each alternative begins with the separator, which is much faster.
_NUMBER_SEPARATORS = re.compile(
    r",(?<=\d,)(?=\d{3}(?!\d))|\s(?:(?=%)(?<=\d\s)|(?=\.?\d)(?<=[<>=]\s))"
)
# "<answer>B</answer>", "[ANSWER]B[/ANSWER]"
_TAGGED_ANSWER = re.compile(
    r"[<\[](?:final_)?answer[>\]]\s?([^<>\[\]]{1,500})[<\[]/(?:final_)?answer[>\]]", re.IGNORECASE
)
# "<choice>c</choice>", "<selected_option>B</selected_option>"; <answer> is stronger.
_TAGGED_CHOICE = re.compile(
    r"<((?:final_?|selected_?|correct_?|chosen_?|my_?)?(?:answer_?)?(?:choice|option|letter|label|verdict|prediction|selection|final)"
    r"(?:_?(?:letter|option))?)(?: [^<>]{0,60})?>\s?([^<>]{1,120}?)\s?</\1>",
    re.IGNORECASE,
)
_TABLE_TAG = re.compile(r"</?(?:table|thead|tbody|t[rdh])(?: [^<>]{0,60})?>", re.IGNORECASE)
_STEPS = (
    *_SPACES,
    _Step(("\\",), re.compile(r"\\(?:text|textbf|mathrm|mathbf|bf)\s?\{([^{}]{0,500})\}"), (1,)),
    _Step(("</", "[/"), _TAGGED_ANSWER, ("\nFinal answer: ", 1, "\n")),
    _Step(("</",), _TAGGED_CHOICE, ("\nAnswer: ", 2, "\n")),
    # "return B" in a program has its own reader; the rows and cells of a table on a web page are lines and bars.
    _Step(("</t", "</T"), re.compile(r"</t[dh]>\s?<t[dh](?: [^<>]{0,60})?>", re.IGNORECASE), (" | ",)),
    _Step(("<t", "</t", "<T", "</T"), _TABLE_TAG, ("\n",)),
    # Empty and full boxes and circles. Beside empty boxes, a box with a cross is a full one.
    _Step(("☐", "□", "⬜"), re.compile("[□⬜]"), ("☐",)),
    _Step(("☐",), re.compile("[☒■⬛]"), ("✓",)),
    _Step(("☒",), re.compile("☒"), ("✗",)),
    _Step(("☐",), re.compile("☐"), ("✗",)),
    _Step(("○",), re.compile("^[●◉] ?", re.MULTILINE), ("✓ ",)),
    _Step(("○",), re.compile("^○ ?", re.MULTILINE), ("✗ ",)),
    _Step(("●", "◉", "○"), re.compile("[●◉○](?= )"), ("•",)),
    _Step(("( )",), re.compile(r"^(?:[-*+] )?\([xX*•]\)(?= )", re.MULTILINE), ("✓",)),
    _Step(("( )",), re.compile(r"^(?:[-*+] )?\( \)(?= )", re.MULTILINE), ("✗",)),
    # "Answer=no"
    _Step(("nswer=",), re.compile(r"(?<=nswer)=(?=\w)"), (" = ",)),
    # "Verdict .... maybe"
    _Step((" ...",), re.compile(r"(?<=\w) \.{3,30} (?=\w)"), (": ",)),
    _Step(("\\",), re.compile(r"\\boxed\s?\{([^{}]{0,500})\}"), ("Final answer: ", 1, " ")),
    _Step(("\\",), re.compile(r"\\therefore\b"), ("∴",)),
    _Step(("_",), re.compile(r"\b(?i:final|correct)_(?=(?i:answer|option|choice))"), ("final ",)),
    _Step(("_",), re.compile(r"(?<=(?i:answer))_(?=(?i:choice|option|letter))"), (" ",)),
    _Step(("</",), re.compile(r"</?(?:b|i|em|strong|p|u|span|div|li|ul|br ?/?)>"), ()),
    _Step(("<|",), re.compile(r"<\|[^|<>\n]{1,40}\|>(?:assistant|user|system)?"), ("\n",)),
    _Step(("[/", "[I", "<s>", "</s>"), re.compile(r"\[/?INST\]|</?s>"), (" ",)),
    # Boxes: "- [x] Heparin", "- [ ] Aspirin".
    _Step(("[x]", "[X]"), re.compile(r"^(?:[-*+] )?\[[xX]\](?= )", re.MULTILINE), ("✓",)),
    _Step(("[ ]",), re.compile(r"^(?:[-*+] )?\[ \](?= )", re.MULTILINE), ("✗",)),
    _Step(("!!",), re.compile(r"(?<=!)!+"), ()),
    _Step(("~",), re.compile(r"~~[^~]{0,500}~~"), ()),
    _Step(("\\",), re.compile(r"\\[()\[\]]"), ()),
    _Step(("*", "`", "$", "~", "__", "#", ">"), re.compile(r"[*`$~]+|__+|^#+ ?|^>{1,3} ", re.MULTILINE), ()),
    # "Verdict: ❌ No": the sign says the same as the word.
    _Step(("✗", "✓"), re.compile(r"(?:(?<=\A)|(?<=[:\n])|(?<=[:-] ))(?:✗ ?(?=(?i:no)\b)|✓ ?(?=(?i:yes)\b))"), ()),
    # The frames of tables and boxes, but not the bars between their cells.
    _Step(("|", "+-", "+="), re.compile(r"^[|+][|:+= -]{2,200}$|^\| ?| ?\|$", re.MULTILINE), ()),
    # Numbers are compared without a thousands separator and without a space beside their sign.
    _Step((",", "%", "<", ">", "="), _NUMBER_SEPARATORS, ()),
    *_SPACES,
)  # fmt: skip


# An answer in which this finds nothing is one line of plain words, which no step changes.
_NEEDS_REWRITING = re.compile(r"[^A-Za-z0-9.:;!?'\"()/+, -]|  |,\d")


def normalise(answer: str) -> str:
    """Return the answer without markup and repeated white space."""
    if not _NEEDS_REWRITING.search(answer):
        return answer.strip(" ")
    text = answer
    if not text.isascii() or _has_control_characters(text):
        text = _normalise_signs(text)
    for step in _STEPS:
        if any(map(text.__contains__, step.needed)):
            text = step.pattern.sub(step.rewrite, text)
    return text


def normalise_with_positions(answer: str) -> tuple[str, list[int]]:
    """Return the normalised answer, and the position in the answer of each of its characters."""
    text, positions = answer, list(range(len(answer)))
    if not text.isascii() or _has_control_characters(text):
        text, positions = _normalise_characters(text)
    for step in _STEPS:
        if any(map(text.__contains__, step.needed)):
            text, positions = _apply(step, text, positions)
    return text, positions


def _has_control_characters(text: str) -> bool:
    return _CONTROL_CHARACTERS.search(text) is not None


def _normalise_signs(text: str) -> str:
    text = unicodedata.normalize("NFKC", text.translate(_PRIVATE_USE)).translate(_CHARACTERS)
    return text.translate(ASCII_MARKS)


def _normalise_characters(answer: str) -> tuple[str, list[int]]:
    """Normalise each character together with the combining marks that follow it."""
    pieces: list[str] = []
    positions: list[int] = []
    for match in re.finditer(r"(?s).[\u0300-\u036f\u3099\u309a\u1160-\u11ff]{0,20}", answer):
        piece = _normalise_signs(match[0])
        pieces.append(piece)
        positions += [match.start()] * len(piece)
    return "".join(pieces), positions


def _apply(step: _Step, text: str, positions: list[int]) -> tuple[str, list[int]]:
    pieces: list[str] = []
    new_positions: list[int] = []
    copied = 0
    for match in step.pattern.finditer(text):
        pieces.append(text[copied : match.start()])
        new_positions += positions[copied : match.start()]
        for part in step.parts:
            if isinstance(part, str):
                # New characters stand where the match begins.
                pieces.append(part)
                new_positions += [positions[match.start()]] * len(part)
            else:
                pieces.append(match[part])
                new_positions += positions[match.start(part) : match.end(part)]
        copied = match.end()
    pieces.append(text[copied:])
    new_positions += positions[copied:]
    return "".join(pieces), new_positions
