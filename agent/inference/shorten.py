"""Shorten a prompt that is too long, by cutting the part that its benchmark allows until its counted tokens fit.

The remaining part ends (or begins) with a complete word, or a complete character if there are no words. The rest of
the prompt is never changed, and the part is never cut completely, because that would change the question.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from agent.inference.tokens import byte_length
from agent.vocabulary import ChatRequest, Failure, Message, Reason, Shortenable

MAX_COUNTS = 12  # maximum counts per prompt, including the first count of the whole prompt
_MAX_WORD_LENGTH = 256  # characters; longer pieces of text without spaces are not treated as words
_LIKE_ENOUGH = 200  # stop when less than 1/200 of the budget is unused
# The first cut is larger by this factor, so that the prompt should fit although tokens vary in length. The search can
# interpolate only after a length was found to fit.
_MARGIN = 1.03
# Less than 1, because the whole gap would give the length that is already known not to fit.
_GAP_SHARE = 0.98

Messages = Sequence[Message]
Count = Callable[[Messages], Awaitable[int | Failure]]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A request that fits, and the number of tokens that were cut from its prompt."""

    request: ChatRequest
    left_out: int = 0


@dataclass(slots=True)
class _Bounds:
    """The bounds of the search for the longest part that fits.

    Attributes:
        over: the shortest length known not to fit, in characters.
        over_tokens: the number of tokens in the prompt with that length.
        fits: the longest length known to fit, in characters; 0 until one is known.
        fits_tokens: the number of tokens in the prompt with that length.
    """

    over: int
    over_tokens: int
    fits: int = 0
    fits_tokens: int = 0

    def interpolate(self, budget: int) -> int:
        """Return the length between the bounds that would use the whole budget if all tokens had the same length."""
        share = (budget - self.fits_tokens) / max(1, self.over_tokens - self.fits_tokens)
        return self.fits + int((self.over - self.fits) * min(share, _GAP_SHARE))

    def halve(self) -> int:
        """Return the length in the middle between the bounds."""
        return self.fits + int((self.over - self.fits) * 0.5)

    def extrapolate(self, budget: int, tokens_per_character: float) -> int:
        """Return a length that should fit; used until a length is known to fit."""
        return self.over - int(_MARGIN * (self.over_tokens - budget) / tokens_per_character) - 1


async def fit(request: ChatRequest, budget: int, template: int, count: Count) -> Fitted | Failure:
    """Return the request, shortened if necessary to `budget` prompt tokens, or the reason why that is impossible.

    A prompt that has no more bytes than the budget has tokens is not counted. Tokens are counted at most `MAX_COUNTS`
    times.

    Args:
        request: the planned request.
        budget: the maximum number of prompt tokens.
        template: the maximum number of tokens that the chat template adds.
        count: counts the tokens of messages; a failure to do so becomes the failure of the request.
    """
    if byte_length(request.messages) + template <= budget:
        return Fitted(request)
    if budget < 1:
        return Failure(Reason.CONTEXT_LENGTH)
    whole = await count(request.messages)
    if isinstance(whole, Failure):
        return whole
    if whole <= budget:
        return Fitted(request)
    if request.shortenable is None:
        return Failure(Reason.CONTEXT_LENGTH)
    return await shorten(request, request.shortenable, whole, budget, count)


async def shorten(
    request: ChatRequest, part: Shortenable, whole: int, budget: int, count: Count
) -> Fitted | Failure:
    """Search for the longest prompt that fits, and return the request with that prompt.

    The search begins with an estimate from the average length of a token, and continues between the longest length
    known to fit and the shortest length known not to fit. It ends after `MAX_COUNTS` counts at the latest. The
    returned prompt was counted and fits.

    Args:
        request: a request whose prompt does not fit.
        part: the part of the prompt that may be cut.
        whole: the number of tokens in the whole prompt.
        budget: the maximum number of prompt tokens.
        count: see `fit`.
    """
    text = request.messages[part.message].content[part.start : part.end]
    shortest = _measure_first_word(text, part.keep)
    tokens_per_character = whole / max(1, sum(len(message.content) for message in request.messages))
    bounds = _Bounds(over=len(text), over_tokens=whole)
    for turn in range(1, MAX_COUNTS):
        if bounds.fits and turn < MAX_COUNTS // 2:
            guess = bounds.interpolate(budget)
        elif bounds.fits:
            # Interpolation may converge slowly if tokens are distributed unevenly.
            guess = bounds.halve()
        elif turn < MAX_COUNTS - 1:
            guess = bounds.extrapolate(budget, tokens_per_character)
        else:
            guess = shortest
        length = max(_round_to_words(text, max(guess, 0), part.keep), shortest)
        if not bounds.fits < length < bounds.over:
            break
        tokens = await count(_cut(request.messages, part, length))
        if isinstance(tokens, Failure):
            return tokens
        if tokens > budget:
            bounds.over, bounds.over_tokens = length, tokens
            continue
        bounds.fits, bounds.fits_tokens = length, tokens
        if (budget - tokens) * _LIKE_ENOUGH <= budget:
            break
    if not bounds.fits:
        return Failure(Reason.CONTEXT_LENGTH)
    messages = _cut(request.messages, part, bounds.fits)
    return Fitted(replace(request, messages=messages), left_out=whole - bounds.fits_tokens)


def _cut(messages: Messages, part: Shortenable, length: int) -> tuple[Message, ...]:
    """Return the messages with only `length` characters of the part."""
    message = messages[part.message]
    text = message.content
    start, end = part.start, part.end
    remaining = text[start : start + length] if part.keep == "start" else text[end - length : end]
    shortened = list(messages)
    shortened[part.message] = replace(message, content=text[:start] + remaining + text[end:])
    return tuple(shortened)


def _measure_first_word(text: str, keep: str) -> int:
    """Return the length up to the end of the first word to keep.

    For a text without words, the result is greater than the text's length. Of a very long word, only a piece is kept.
    """
    words = text.split()
    if not words:
        return len(text) + 1
    if keep == "start":
        word, stripped = words[0], text.lstrip()
    else:
        word, stripped = words[-1], text.rstrip()
    blank = len(text) - len(stripped)
    if len(word) <= _MAX_WORD_LENGTH:
        return blank + len(word)
    return _round_to_characters(text, blank + _MAX_WORD_LENGTH // 2, keep)


def _round_to_words(text: str, length: int, keep: str) -> int:
    """Return the largest length up to `length` that cuts the text between words, or else between characters."""
    if length <= 0:
        return 0
    if keep == "start":
        for end in range(min(length, len(text) - 1), max(length - _MAX_WORD_LENGTH, 0), -1):
            if text[end].isspace() and not text[end - 1].isspace():
                return end
    else:
        begin_at_least = len(text) - length
        for begin in range(
            max(begin_at_least, 1), min(begin_at_least + _MAX_WORD_LENGTH, len(text))
        ):
            if text[begin - 1].isspace() and not text[begin].isspace():
                return len(text) - begin
    return _round_to_characters(text, length, keep)


def _round_to_characters(text: str, length: int, keep: str) -> int:
    """Return the largest length up to `length` that does not split a character (grapheme cluster)."""
    import regex  # imported here because it is rarely needed

    position = length if keep == "start" else len(text) - length
    begin = max(0, position - _MAX_WORD_LENGTH)
    borders = [begin]
    for character in regex.finditer(r"\X", text[begin : position + _MAX_WORD_LENGTH]):
        borders.append(begin + character.end())
    if keep == "start":
        return max(border for border in borders if border <= position)
    return len(text) - min((border for border in borders if border >= position), default=len(text))
