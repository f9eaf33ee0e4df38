"""Rewrite an answer as plain text: without markup, with ASCII signs, each line trimmed. Pure.

The rewriting is a list of steps. `simplify` applies them to the text alone; `simplify_with_positions` also returns, for
each character of the plain text, its position in the answer, so that a span found in the plain text can be shown.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from agent.reading.words import ASCII_MARKS

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_LATEX_SYMBOLS = {
    "approx": "≈",
    "simeq": "≈",
    "sim": "~",
    "times": "×",
    "cdot": "×",
    "geq": "≥",
    "ge": "≥",
    "leq": "≤",
    "le": "≤",
    "gt": ">",
    "lt": "<",
    "neq": "≠",
    "ne": "≠",
    "pm": "±",
    "to": "→",
    "rightarrow": "→",
    "Rightarrow": "→",
    "implies": "→",
    "therefore": "∴",
    "div": "/",
    "mu": "µ",
    "quad": " ",
    "qquad": " ",
    "left": "",
    "right": "",
    "displaystyle": "",
}


@dataclass(frozen=True, slots=True)
class _Step:
    """One rewriting: `pattern` is replaced if any of the strings in `needs` occurs in the text."""

    needs: tuple[str, ...] | str
    pattern: re.Pattern[str]
    replacement: Callable[[re.Match[str]], str]


def _keep_group(match: re.Match[str]) -> str:
    return match[1]


def _write_nothing(match: re.Match[str]) -> str:  # noqa: ARG001
    return ""


def _write_space(match: re.Match[str]) -> str:  # noqa: ARG001
    return " "


def _write_arrow(match: re.Match[str]) -> str:  # noqa: ARG001
    return "→"


def _write_minus(match: re.Match[str]) -> str:  # noqa: ARG001
    return "-"


def _write_line_break(match: re.Match[str]) -> str:  # noqa: ARG001
    return "\n"


def _write_caret(match: re.Match[str]) -> str:  # noqa: ARG001
    return "^"


def _write_colon(match: re.Match[str]) -> str:  # noqa: ARG001
    return ": "


def _write_power(match: re.Match[str]) -> str:
    return "^" + match[0].translate(_SUPERSCRIPTS)


def _write_symbol(match: re.Match[str]) -> str:
    return _LATEX_SYMBOLS[match[1]]


def _write_answer_label(match: re.Match[str]) -> str:
    return "\n" if match[1] else "\nanswer: "


def _write_part(match: re.Match[str]) -> str:
    return f"{match[1] or 0}.{_PARTS[match[2]]}"


def _write_mixed(match: re.Match[str]) -> str:
    return f"{int(match[1]) + int(match[2]) / int(match[3]):.6g}"


def _write_fraction(match: re.Match[str]) -> str:
    return f"({match[1]})/({match[2]})"


_LINE_BREAKS = "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_TEXT_COMMAND = re.compile(
    r"\\(?:text|mathrm|textbf|mathbf|boldsymbol|mathit|textit|operatorname)\s?\{([^{}]{0,500})\}"
)
# Each pattern begins with the character that it looks for, which is several times faster than a lookbehind.
_EMPHASIS = re.compile(r"[*`$](?:(?<![\w)*`$].)[*`$]{0,3}(?=\S)|(?<=\S.)[*`$]{0,3}(?![\w(*`$]))")
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\s?\{\w{1,20}\*?\}(?:\{[^{}]{0,20}\})?|\\\\(?=\s|&|$)")
_NEXT_EQUATION = re.compile(
    r"\n{1,2}(?=[=≈] ?[^=\n])(?![=≈] ?[-+]?[\d.,]{1,20}[^\n\d=≈]{0,20}(?:\n|→|$))"
)
_SPACED_MINUS = re.compile(
    r"-(?:(?<=[=:≈]-)|(?<=[=:≈] -)|(?<=\b(?:is|of) -)|(?<=\bwas -)) (?=\.?\d)"
)
_PROGRAM = re.compile(r"```(?:python|py|r|js|javascript|sql)\n(?:[^`]|`(?!``)){0,20000}(?:```|$)")
_COMBINING = "\u0300-\u036f\u3099\u309a"
# Normalising leaves a run of ASCII characters as it is; another character is normalised with its combining marks.
_CLUSTER = re.compile(rf"[\x00-\x7f]+(?![{_COMBINING}])|.[{_COMBINING}]{{0,20}}", re.DOTALL)
_PARTS = {"½": "5", "¼": "25", "¾": "75"}
# "1½", "1 ½"; normalising would make it "11/2".
_MIXED = _Step("½¼¾", re.compile(r"(?<![\d.,])(\d{0,4}) ?([½¼¾])"), _write_part)
_POWERS = _Step("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+"), _write_power)

_STEPS = (
    _Step("\u200b\u2060\ufeff\u00ad", re.compile("[\u200b\u2060\ufeff\u00ad]"), _write_nothing),
    _Step(_LINE_BREAKS, re.compile(rf"\r\n?|[{_LINE_BREAKS}]"), _write_line_break),
    # A program is no statement; its output may be one.
    _Step("`", _PROGRAM, _write_line_break),
    # An answer in JSON that was not parsed has its line breaks as two characters; \neq and \nu are LaTeX.
    _Step("\\", re.compile(r"\\n(?![a-z])"), _write_line_break),
    _Step("<", re.compile(r"<(/?)(?:final_?)?answer>", re.IGNORECASE), _write_answer_label),
    _Step("<", re.compile(r"<br ?/?>|</(?:p|li|tr|div|h\d)>", re.IGNORECASE), _write_line_break),
    # "CHA<sub>2</sub>DS<sub>2</sub>-VASc", "10<sup>9</sup>"
    _Step(("<sup", "<SUP"), re.compile(r"<sup>(?=\d)", re.IGNORECASE), _write_caret),
    _Step(("<su", "</su", "<SU"), re.compile(r"</?su[bp]>", re.IGNORECASE), _write_nothing),
    # "<b>5</b>" is markup; "<5" is a bound.
    _Step("<", re.compile(r"</?[A-Za-z][^<>\n]{0,100}>"), _write_space),
    _Step("\\", _ENVIRONMENT, _write_line_break),
    _Step("&", re.compile(r"&(?= ?[=≈\\])"), _write_nothing),
    _Step("\\", _TEXT_COMMAND, _keep_group),
    _Step("\\", re.compile(r"\\[dt]?frac\s?\{([^{}]{0,200})\}\s?\{([^{}]{0,200})\}"), _write_fraction),
    _Step("\\", re.compile(r"\\(" + "|".join(_LATEX_SYMBOLS) + r")(?![A-Za-z])"), _write_symbol),
    _Step("\\", re.compile(r"\\([%$_#&*.])"), _keep_group),
    _Step("\\", re.compile(r"\\[!;:,> ]"), _write_space),
    _Step("\\", re.compile(r"\\[\[\]()\\]"), _write_space),
    _Step("{", re.compile(r"\{,\}"), lambda match: ","),  # noqa: ARG005
    _Step(("->", "=>"), re.compile(r"[-=]>"), _write_arrow),
    _Step("~", re.compile(r"~~[^~\n]{1,200}~~"), _write_space),
    # The frame around a result.
    _Step("║│┃╔╚┌└┏┗", re.compile("[\u2500-\u257f]+"), _write_space),
    _Step("|", re.compile(r"[ \t]{0,20}\|[ \t]{0,20}(?=[^|\n])"), _write_colon),
    # A quotation; "> 5" may be a bound.
    _Step(("> ",), re.compile(r"(?:(?<=\n)|(?<![\s\S]))> (?=[A-Za-z*_#$])"), _write_nothing),
    # Emphasis marks are at a word's edge; in "2*3" and "10**3" the asterisks are arithmetic.
    _Step("*`$", _EMPHASIS, _write_nothing),
    _Step("*", re.compile(r"\*\*(?=\w)(?:(?<![*\w]..)|(?<=[A-Za-z.:%)]..))"), _write_nothing),
    _Step("_", re.compile(r"_(?:(?<!\w.)_{0,2}(?=[^\s_])|(?<=[^\s_].)_{0,2}(?!\w))"), _write_nothing),
    _Step("#", re.compile(r"^ ?#{1,6}(?= |\d)", re.MULTILINE), _write_nothing),
    _Step(("  ", "\t"), re.compile(r"[^\S\n]{2,}|[^\S\n ]"), _write_space),
    _Step(("\n ", " \n"), re.compile(r"(?<=\n) | (?=\n)"), _write_nothing),
    # A calculation goes on in the next line, unless that line is its result.
    _Step(("\n=", "\n≈"), _NEXT_EQUATION, _write_space),
    # A quotation below the words that announce it: "Divided by 24 h:\n\n> 3.67 mL/hr".
    _Step((":\n\n> ",), re.compile(r"(?<=:\n\n)> (?=\S)"), _write_nothing),
    # "542 2/3 ms"
    _Step(
        ("1/2", "1/3", "2/3", "1/4", "3/4"),
        re.compile(
            r"(?<![\d/.,^-])(?<![\d/+*x×-] )(\d{1,4}) ([123])/([234])(?= ?(?:m?sec|ms|mg|kg|mL|points?|pts|%)\b| ?$)",
            re.MULTILINE,
        ),
        _write_mixed,
    ),
    # "is - 5" within a line is minus five; at the start of a line, "- 5" is a list item.
    _Step(("- ",), _SPACED_MINUS, _write_minus),
)  # fmt: skip


_MARKS = re.compile(r"[\\<{~|*`$_#&/\n\r\x0b\x0c\x1c-\x1e\t]|  |- ")
"""Every ASCII character that a step looks for. Most short answers contain none of them."""


def simplify(answer: str) -> str:
    """Return the answer as plain text."""
    text = answer
    if not text.isascii():
        for step in (_POWERS, _MIXED):
            if _is_needed(step, text):
                text = step.pattern.sub(step.replacement, text)
        text = unicodedata.normalize("NFKC", text).translate(ASCII_MARKS)
    elif not _MARKS.search(text):
        return text
    for step in _STEPS:
        if _is_needed(step, text):
            text = step.pattern.sub(step.replacement, text)
    return text


def _is_needed(step: _Step, text: str) -> bool:
    for mark in step.needs:  # noqa: SIM110 - any() takes twice as long
        if mark in text:
            return True
    return False


def simplify_with_positions(answer: str) -> tuple[str, list[int]]:
    """Return the plain text and the position in the answer of each of its characters."""
    if answer.isascii() and not _MARKS.search(answer):
        return answer, list(range(len(answer)))
    text, positions = _replace(_POWERS, answer, list(range(len(answer))))
    text, positions = _replace(_MIXED, text, positions)
    text, positions = _normalise(text, positions)
    for step in _STEPS:
        if _is_needed(step, text):
            text, positions = _replace(step, text, positions)
    return text, positions


def _replace(step: _Step, text: str, positions: list[int]) -> tuple[str, list[int]]:
    new_text: list[str] = []
    new_positions: list[int] = []
    copied = 0
    for match in step.pattern.finditer(text):
        replacement = step.replacement(match)
        new_text += [text[copied : match.start()], replacement]
        new_positions += positions[copied : match.start()]
        # What a group keeps stays where it was; new characters stand where the match begins.
        kept = match[0].find(replacement)
        for index in range(len(replacement)):
            new_positions.append(positions[match.start() + (kept + index if kept >= 0 else 0)])
        copied = match.end()
    return "".join([*new_text, text[copied:]]), new_positions + positions[copied:]


def _normalise(text: str, positions: list[int]) -> tuple[str, list[int]]:
    """Normalise each character with the combining marks that follow it."""
    new_text: list[str] = []
    new_positions: list[int] = []
    for match in _CLUSTER.finditer(text):
        if match[0].isascii():
            new_text.append(match[0])
            new_positions += positions[match.start() : match.end()]
            continue
        plain = unicodedata.normalize("NFKC", match[0]).translate(ASCII_MARKS)
        new_text.append(plain)
        new_positions += [positions[match.start()]] * len(plain)
    return "".join(new_text), new_positions
