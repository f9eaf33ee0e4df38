"""Cuts the part of an over-long prompt that its benchmark lets go, by real counts, until the prompt fits.

What is left of the part ends (or begins) with a whole word, or with a whole character where there are no words. The
rest of the prompt is never touched, and something of the part always stays: a question about nothing is another
question.
"""

from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import dataclass, replace

from agent.inference.tokens import byte_length
from agent.vocabulary import ChatRequest, Failure, Message, Reason, Shortenable

MOST_COUNTS = 12  # of one prompt, the first count of the whole included
_LONGEST_WORD = 256  # characters; what is longer has no words, or none worth keeping whole
_LIKE_ENOUGH = 200  # a cut that leaves less than this part of the budget unused is good

Messages = Sequence[Message]
Count = Callable[[Messages], Awaitable[int | Failure]]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A request that fits, and how many tokens of its prompt were left out for that."""

    request: ChatRequest
    left_out: int = 0


async def fit(request: ChatRequest, budget: int, template: int, count: Count) -> Fitted | Failure:
    """Return the request as it fits `budget` tokens of prompt, or why it does not.

    A prompt that has fewer bytes than the budget has tokens fits without being counted. At most `MOST_COUNTS` counts
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
    search = shorter(request.messages, request.shortenable, whole, budget)
    try:
        candidate = next(search)
        while True:
            counted = await count(candidate)
            if isinstance(counted, Failure):
                return counted
            candidate = search.send(counted)
    except StopIteration as found:
        if found.value is None:
            return Failure(Reason.CONTEXT_LENGTH)
        messages, tokens = found.value
        return Fitted(replace(request, messages=messages), whole - tokens)


def shorter(
    messages: Messages, part: Shortenable, whole: int, budget: int
) -> Generator[tuple[Message, ...], int, tuple[tuple[Message, ...], int] | None]:
    """Search for the longest prompt that fits: yields candidates, is sent their counts, and returns the best.

    It begins where the average length of a token says and goes on between the longest candidate known to fit and the
    shortest known not to. Whatever the counts, it ends after `MOST_COUNTS`; what it returns was counted and fits.
    None: no candidate fits.
    """
    text = messages[part.message].content[part.start : part.end]
    length = len(text)
    least = _kept_at_least(text, part.keep)
    fits, fits_tokens = 0, 0  # characters kept by the best candidate; 0: none fits yet
    over, over_tokens = length, whole
    per_character = whole / max(1, sum(len(message.content) for message in messages))
    for asked in range(1, MOST_COUNTS):
        if fits:
            share = (budget - fits_tokens) / max(1, over_tokens - fits_tokens)
            # In the end halve: counts need not grow evenly.
            wanted = fits + int((over - fits) * (min(share, 0.98) if asked < MOST_COUNTS // 2 else 0.5))
        else:
            wanted = over - int(1.03 * (over_tokens - budget) / per_character) - 1
            if asked == MOST_COUNTS - 1:
                wanted = least
        kept = max(_whole_words(text, max(wanted, 0), part.keep), least)
        if kept >= over:
            return None if not fits else (_cut(messages, part, fits), fits_tokens)
        if kept <= fits:
            break
        tokens = yield _cut(messages, part, kept)
        if tokens <= budget:
            fits, fits_tokens = kept, tokens
            if (budget - tokens) * _LIKE_ENOUGH <= budget:
                break
        else:
            over, over_tokens = kept, tokens
    return (_cut(messages, part, fits), fits_tokens) if fits else None


def _cut(messages: Messages, part: Shortenable, kept: int) -> tuple[Message, ...]:
    """Return the messages with so many characters of the part."""
    message = messages[part.message]
    text = message.content
    stays = text[part.start : part.start + kept] if part.keep == "start" else text[part.end - kept : part.end]
    content = text[: part.start] + stays + text[part.end :]
    return (*messages[: part.message], replace(message, content=content), *messages[part.message + 1 :])


def _kept_at_least(text: str, keep: str) -> int:
    """Return how many characters the first word to be kept takes, or more than there are if there is none."""
    words = text.split()
    if not words:
        return len(text) + 1
    word = words[0] if keep == "start" else words[-1]
    blank = len(text) - len(text.lstrip() if keep == "start" else text.rstrip())
    if len(word) <= _LONGEST_WORD:
        return blank + len(word)
    return _whole_characters(text, blank + _LONGEST_WORD // 2, keep)


def _whole_words(text: str, kept: int, keep: str) -> int:
    """Return at most `kept` characters that end (or begin) between words, else between characters."""
    if kept <= 0:
        return 0
    if keep == "start":
        for place in range(min(kept, len(text) - 1), max(kept - _LONGEST_WORD, 0), -1):
            if text[place].isspace() and not text[place - 1].isspace():
                return place
    else:
        for place in range(max(len(text) - kept, 1), min(len(text) - kept + _LONGEST_WORD, len(text))):
            if text[place - 1].isspace() and not text[place].isspace():
                return len(text) - place
    return _whole_characters(text, kept, keep)


def _whole_characters(text: str, kept: int, keep: str) -> int:
    """Return at most `kept` characters; an accent stays with its letter, and an emoji of several parts in one piece."""
    import regex  # a prompt without words is rare

    place = kept if keep == "start" else len(text) - kept
    begin = max(0, place - _LONGEST_WORD)
    ends: list[int] = [
        begin,
        *(begin + found.end() for found in regex.finditer(r"\X", text[begin : place + _LONGEST_WORD])),
    ]
    if keep == "start":
        return max(end for end in ends if end <= place)
    return len(text) - min((end for end in ends if end >= place), default=len(text))
