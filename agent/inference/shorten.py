"""Cut the part of an over-long prompt that its benchmark allows to be cut, by real counts, until the prompt fits.

The remaining part ends (or begins) with a whole word, or with a whole character where there are no words. The rest of
the prompt is never touched, and the part is never left empty: a question about nothing is another question.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from agent.inference.tokens import byte_length
from agent.vocabulary import ChatRequest, Failure, Message, Reason, Shortenable

MAX_COUNTS = 12  # of one prompt, the first count of the whole included
_MAX_WORD_LENGTH = (
    256  # characters; a longer piece of text has no words, or none worth keeping whole
)
_LIKE_ENOUGH = 200  # a cut that leaves less than this part of the budget unused is good
# Of a first cut: tokens are not evenly long, and a candidate that fits says more than one that does not.
_MARGIN = 1.03
_GAP_SHARE = 0.98  # a guess at the whole gap would be the length that is known not to fit

Messages = Sequence[Message]
Count = Callable[[Messages], Awaitable[int | Failure]]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A request that fits, and how many tokens of its prompt were left out for that."""

    request: ChatRequest
    left_out: int = 0


@dataclass(slots=True)
class _Bounds:
    """The longest part known to fit and the shortest known not to, in characters, with the tokens of their prompts.

    Attributes:
        fits: 0 until a candidate fits.
    """

    over: int
    over_tokens: int
    fits: int = 0
    fits_tokens: int = 0

    def interpolate(self, budget: int) -> int:
        """Return the length between the two that should use up the budget if tokens were evenly long."""
        share = (budget - self.fits_tokens) / max(1, self.over_tokens - self.fits_tokens)
        return self.fits + int((self.over - self.fits) * min(share, _GAP_SHARE))

    def halve(self) -> int:
        """Return the length in the middle between the two."""
        return self.fits + int((self.over - self.fits) * 0.5)

    def extrapolate(self, budget: int, tokens_per_character: float) -> int:
        """Return a length that should fit, while none is known to."""
        return self.over - int(_MARGIN * (self.over_tokens - budget) / tokens_per_character) - 1


async def fit(request: ChatRequest, budget: int, template: int, count: Count) -> Fitted | Failure:
    """Return the request as it fits `budget` tokens of prompt, or the reason why it does not.

    A prompt that has fewer bytes than the budget has tokens fits without being counted. At most `MAX_COUNTS` counts
    are asked for.

    Args:
        request: as planned.
        budget: most tokens of the prompt.
        template: at most how many of them the chat template adds.
        count: counts the tokens of messages, or says why it could not, which then is the request's own failure.
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
    """Search for the longest prompt that fits, and return the request with it.

    The search begins where the average length of a token says and goes on between the longest candidate known to fit
    and the shortest known not to. It ends after `MAX_COUNTS` whatever the counts; the result was counted and fits.

    Args:
        request: its prompt does not fit.
        part: of the prompt, which may be cut.
        whole: tokens of the prompt.
        budget: most tokens of the prompt.
        count: as for `fit`.
    """
    text = request.messages[part.message].content[part.start : part.end]
    shortest = _measure_first_word(text, part.keep)
    tokens_per_character = whole / max(1, sum(len(message.content) for message in request.messages))
    bounds = _Bounds(over=len(text), over_tokens=whole)
    for turn in range(1, MAX_COUNTS):
        if bounds.fits and turn < MAX_COUNTS // 2:
            guess = bounds.interpolate(budget)
        elif bounds.fits:
            guess = (
                bounds.halve()
            )  # counts need not grow evenly, and interpolating may come no nearer
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
    """Return how many characters the first word to be kept takes, or more than the text has if it has no word."""
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
    """Return at most `length` characters that end (or begin) between words, else between characters."""
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
    """Return at most `length` characters; an accent stays with its letter, and an emoji of several parts whole."""
    import regex  # a prompt without words is rare

    position = length if keep == "start" else len(text) - length
    begin = max(0, position - _MAX_WORD_LENGTH)
    borders = [begin]
    for character in regex.finditer(r"\X", text[begin : position + _MAX_WORD_LENGTH]):
        borders.append(begin + character.end())
    if keep == "start":
        return max(border for border in borders if border <= position)
    return len(text) - min((border for border in borders if border >= position), default=len(text))
