"""The search for the longest prompt that fits asks for few counts and cuts between words."""

import asyncio
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from agent.inference.shorten import MAX_COUNTS, Fitted, Messages, shorten
from agent.vocabulary import ChatRequest, Failure, Message, Reason, Shortenable


def search(
    messages: tuple[Message, ...], part: Shortenable, budget: int, count: Callable[[Messages], int]
):
    """Shorten a prompt; return the result, and the count of each candidate."""
    counts: dict[tuple[Message, ...], int] = {}

    async def count_candidate(candidate: Messages) -> int:
        counts[tuple(candidate)] = count(candidate)
        return counts[tuple(candidate)]

    request = ChatRequest("m", messages, max_tokens=1)
    return asyncio.run(shorten(request, part, count(messages), budget, count_candidate)), counts


def count_characters(messages: Messages) -> int:
    return len(messages[0].content)


def test_characters_of_several_parts_are_never_split():
    family, accent = "\U0001f468\u200d\U0001f469\u200d\U0001f467", "e\u0301"
    text = (family + accent) * 400
    for keep in ("start", "end"):
        part = Shortenable(0, 0, len(text), keep)
        fitted, _ = search((Message("user", text),), part, 500, count_characters)
        assert isinstance(fitted, Fitted)
        shortened = fitted.request.messages[0].content
        assert 400 < len(shortened) <= 500
        assert shortened.replace(family, "").replace(accent, "") == ""


def test_a_value_is_never_cut_within():
    text = "Potassium 13.55 mmol " * 200
    part = Shortenable(0, 0, len(text), "start")
    _, counts = search((Message("user", text),), part, 1000, count_characters)
    assert counts
    words_of_text = set(text.split())
    assert all(set(candidate[0].content.split()) <= words_of_text for candidate in counts)


@given(
    st.lists(st.text(max_size=30), min_size=1, max_size=40),
    st.sampled_from(["start", "end"]),
    st.integers(1, 400),
    st.integers(1, 40),
    st.text(max_size=50),
    st.text(max_size=50),
)
def test_whatever_the_text_what_is_returned_was_counted_fits_and_is_a_piece_of_it(
    pieces, keep, budget, per_token, before, after
):
    material = " ".join(pieces)
    messages = (Message("system", "s"), Message("user", before + material + after))
    part = Shortenable(1, len(before), len(before) + len(material), keep)

    def count(candidate: Messages) -> int:
        return (
            3
            + sum(len(message.content.encode("utf-8", "replace")) for message in candidate)
            // per_token
        )

    if count(messages) <= budget:
        return
    result, counted = search(messages, part, budget, count)
    assert len(counted) < MAX_COUNTS
    for candidate in counted:
        content = candidate[1].content
        assert content.startswith(before)
        assert content.endswith(after)
        kept = content[len(before) : len(content) - len(after)]
        assert kept
        assert material.startswith(kept) if keep == "start" else material.endswith(kept)
    if isinstance(result, Fitted):
        tokens = counted[result.request.messages]
        assert tokens <= budget
        assert result.left_out == count(messages) - tokens
    else:
        assert result == Failure(Reason.CONTEXT_LENGTH)
