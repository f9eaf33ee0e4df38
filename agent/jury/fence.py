"""Fence the texts shown to judges, so that no text can give a judge instructions.

A text is enclosed by two marks that its author cannot guess, so it cannot close its fence. It cannot end the message
either: every sequence that a chat template could interpret as a turn, a role or reasoning is broken by a space, and the
tokenizer sees ordinary text.
"""

import hashlib
import re
from collections.abc import Iterable

_MIN_MARKER = 8  # characters; a shorter one could be guessed, or occur in a text by chance

# Control characters, and invisible characters that some tokenizers drop before they look for their own tokens. Joiners
# and variation selectors stay, because scripts and symbols need them.
_SHAPELESS = re.compile(
    "[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_JOINER = "\u034f\u180b-\u180d\u180f\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef"
_JOINERS = f"[{_JOINER}]*"

# Possible beginnings of a chat template's tokens, in ASCII or in wide forms that normalisation converts to ASCII:
# <|im_end|>, <｜User｜>, </s>, <start_of_turn>, <think>, <<SYS>>, <0x0A>, <[fim-end]>, >>ANSWER<<, ◁think▷; [INST],
# [/INST], [gMASK], [|user|]; ]~b], [e~[.
_ANGLE = re.compile(
    rf"([<＜﹤◁])(?={_JOINERS}(?:[|｜￨/／<＜﹤\[［A-Za-zＡ-Ｚａ-ｚ_▁!]|0{_JOINERS}x))"
)
_SQUARE = re.compile(
    rf"([\[［])(?={_JOINERS}(?:[|｜￨]|(?:[/／]{_JOINERS})?(?:[gs]{_JOINERS})?[A-ZＡ-Ｚ][A-ZＡ-Ｚ0-9_{_JOINER}]{{1,40}}[\]］]))"
)
_TILDE = re.compile(rf"([\]］]|[\[［]{_JOINERS}e)(?={_JOINERS}[~～])")


def break_control_tokens(text: str) -> str:
    """Return `text` without invisible and control characters, and with a space inside every possible control token.

    Letters, digits and symbols keep their order; `<5` and `a < b` are unchanged.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _SHAPELESS.sub("", text)
    text = _CONTROL.sub("\ufffd", text)
    for opening in (_ANGLE, _SQUARE, _TILDE):
        text = opening.sub(r"\1 ", text)
    return text


def extend_marker(marker: str, texts: Iterable[str]) -> str:
    """Return `marker`, lengthened until it occurs in none of the `texts`.

    Raises:
        ValueError: the marker is too short to be hard to guess, or contains more than letters and digits.
    """
    if len(marker) < _MIN_MARKER or not marker.isalnum():
        raise ValueError(f"a fence's marker has at least {_MIN_MARKER} letters and digits")
    all_texts = "\n".join(texts).casefold()
    while marker.casefold() in all_texts:
        marker += hashlib.sha256(marker.encode()).hexdigest()[:8]
    return marker


def put_in_fence(name: str, text: str, marker: str) -> str:
    """Return `text` between two lines that contain the marker."""
    return f"[begin {name} {marker}]\n{break_control_tokens(text)}\n[end {name} {marker}]"
