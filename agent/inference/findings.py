"""What one reply to one question of the probe says about the server. Pure judgements, in plain words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.inference.capabilities import Feature
from agent.inference.connection import Obstacle
from agent.inference.retry import RETRIED_STATUSES
from agent.inference.wire import has_thought_marks, parse_object
from agent.vocabulary import Response

FEW_TOKENS = 8  # the limit that questions of the probe set
THOUGHT_TOKENS = 256  # the limit of the question that one word answers: thoughts of so easy a question end within it
_END_TOKENS = 2  # some servers count the marks that end an answer


@dataclass(frozen=True, slots=True)
class Seen:
    """A reply to one question of the probe, or why there was none."""

    status: int | None  # None: no complete reply
    reply: Mapping[str, object]
    response: Response | None
    understood: bool = False  # a reply in the form of the API, whatever it said
    server: str = "unknown"
    obstacle: Obstacle | None = None
    hung: bool = False  # no reply in time

    @property
    def text(self) -> str:
        """All that was written, thoughts included: a short limit may cut a reasoning model before its answer."""
        return self.response.reasoning + self.response.text if self.response else ""

    @property
    def passing(self) -> bool:
        """Whether asking again a little later may bring an answer."""
        return self.status in RETRIED_STATUSES or (self.status is None and not (self.obstacle or self.hung))

    @property
    def named(self) -> str:
        """The name that an answer gives its model; empty when it gives none."""
        named = self.reply.get("model") if self.response else None
        return named if isinstance(named, str) else ""

    @property
    def message(self) -> Mapping[str, object]:
        """The first choice's message as it came, or nothing."""
        choice = self.choices[0] if self.choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        return message if isinstance(message, dict) else {}

    @property
    def choices(self) -> list[object]:
        """The reply's choices, or nothing."""
        choices = self.reply.get("choices")
        return choices if isinstance(choices, list) else []


def _unanswered(seen: Seen) -> Feature:
    if seen.status is None or seen.status == 200:
        return Feature("unknown", "no answer came to the question")
    if seen.status in (400, 422, 501):
        return Feature("refused", f"refused with HTTP {seen.status}")
    return Feature("unknown", f"the question failed with HTTP {seen.status}")


def model_name(stranger: Seen, listed: bool, renamed: bool) -> Feature:
    """Judge from a question to a model that does not exist, and from whether replies name another than was asked."""
    if renamed:
        return Feature("ignored", "its replies name another model than the one asked for, which the list names too")
    if stranger.status == 200:
        known = "the list names the model" if listed else "what runs behind the name cannot be checked"
        return Feature("ignored", f"answers to any name of a model; {known}")
    if stranger.status is None:
        return Feature("unknown", "no reply came to the question")
    return Feature("honoured", f"refuses a name it does not know (HTTP {stranger.status})")


def token_limit(seen: Seen) -> Feature:
    """Judge a limit of `FEW_TOKENS` tokens.

    A word is at least one token, so words are counted where tokens are not reported.
    """
    if seen.response is None:
        return _unanswered(seen)
    words, tokens = len(seen.text.split()), seen.response.completion_tokens
    if words > FEW_TOKENS or (tokens is not None and tokens > FEW_TOKENS + _END_TOKENS):
        return Feature("ignored", f"wrote more than the {FEW_TOKENS} tokens allowed")
    if seen.response.finish_reason == "length":
        return Feature("honoured", f"stops at the limit of {FEW_TOKENS} tokens")
    return Feature("unknown", f"the answer was shorter than the limit of {FEW_TOKENS} tokens")


def same_at_zero(first: Seen, second: Seen) -> Feature:
    """Judge two answers to the same question at temperature 0."""
    if first.response is None or second.response is None:
        return Feature("unknown", "no answer came to the question")
    if first.text == second.text:
        return Feature("honoured", "the same question at temperature 0 brought the same answer")
    return Feature("ignored", "the same question at temperature 0 brought different answers")


def seed(seven: Seen, seven_again: Seen, eight: Seen) -> Feature:
    """Judge three answers at temperature 1: two with one seed, one with another."""
    for seen in (seven, seven_again, eight):
        if seen.response is None:
            return _unanswered(seen)
    if seven.text != seven_again.text:
        return Feature("ignored", "the same seed brought different answers at temperature 1")
    if seven.text == eight.text:
        return Feature("unknown", "every seed brought the same answer at temperature 1")
    return Feature("honoured", "the same seed brought the same answer, another seed another")


def stop_mark(text: str) -> str:
    """Choose a piece of an answer that stopping at must change: from its middle, not at its start."""
    middle = max(1, len(text) // 2)
    return text[middle : middle + 3].strip() if len(text) > 1 else ""


def stop_sequence(seen: Seen | None, mark: str, text: str) -> Feature:
    """Judge an answer that should have stopped at `mark`, beside `text`, the same answer without it."""
    if seen is None:
        return Feature("unknown", "the answer to the first question was too short to stop in")
    if seen.response is None:
        return _unanswered(seen)
    if mark in seen.text:
        return Feature("ignored", "wrote on past a stop sequence")
    if text.startswith(seen.text):
        return Feature("honoured", "stops before a stop sequence")
    return Feature("unknown", "the answer changed, so it cannot be told whether it stopped")


def several(seen: Seen) -> Feature:
    """Judge a request for two answers."""
    if seen.status != 200:
        return _unanswered(seen)
    if len(seen.choices) == 2:
        return Feature("honoured", "gave two answers when asked for two")
    return Feature("ignored", f"gave {len(seen.choices)} instead of two answers")


def logprobs(seen: Seen) -> Feature:
    """Judge a request for log probabilities."""
    if seen.status != 200:
        return _unanswered(seen)
    choice = seen.choices[0] if seen.choices else None
    held = choice.get("logprobs") if isinstance(choice, dict) else None
    content = held.get("content") if isinstance(held, dict) else None
    if isinstance(content, list) and content:
        return Feature("honoured", "gives log probabilities of its tokens")
    return Feature("ignored", "gives no log probabilities when asked")


def json_schema(seen: Seen) -> Feature:
    """Judge an answer that a schema allows only two forms of."""
    if seen.status != 200:
        return _unanswered(seen)
    value = parse_object(seen.response.text.encode("utf-8", "replace")) if seen.response else None
    if value is not None and set(value) == {"colour"} and value["colour"] in ("blue", "red"):
        return Feature("honoured", "holds its answer to a JSON schema")
    if seen.response is None:
        return _unanswered(seen)
    begun = seen.response.text.strip()[:1] in ("", "{")
    if begun and seen.response.finish_reason == "length":
        return Feature("unknown", "the answer was cut off before it could be held to a JSON schema")
    return Feature("ignored", "answers without regard to a JSON schema")


def usage(seen: Seen) -> Feature:
    """Judge whether tokens are counted."""
    if seen.response is not None and seen.response.completion_tokens is not None:
        return Feature("honoured", "reports how many tokens were used")
    return Feature("ignored", "does not report how many tokens were used")


def thinks_inline(seen: Sequence[Seen]) -> bool:
    """Tell whether thoughts begin or end inside an answer."""
    contents = (one.message.get("content") for one in seen)
    return any(isinstance(content, str) and has_thought_marks(content) for content in contents)


def thinks_apart(seen: Sequence[Seen]) -> bool:
    """Tell whether the server keeps thoughts apart from answers."""
    return any(one.message.get("reasoning_content") or one.message.get("reasoning") for one in seen)


def reasoning(seen: Sequence[Seen], one_word: Seen, *, marked: bool) -> Feature:
    """Tell where thoughts appear, if any were seen.

    Args:
        seen: all replies.
        one_word: the reply to a question that one word answers. A model whose prompt begins its thought shows that
            only by the mark at the end, so it is given room to come that far.
        marked: the deployment says that the model thinks.
    """
    if thinks_inline(seen):
        return Feature("ignored", "the model thinks first, inside its answer; the thoughts are taken out here")
    if thinks_apart(seen):
        return Feature("honoured", "the model thinks first, and the server keeps its thoughts apart")
    if one_word.response is not None and one_word.response.finish_reason == "length":
        seen_so = f"wrote on for {THOUGHT_TOKENS} tokens when asked for one word"
        if marked:
            return Feature("ignored", f"{seen_so}, as a model that thinks inside its answer does")
        return Feature("ignored", f"{seen_so}; if those are thoughts, mark the deployment as `reasoning: true`")
    return Feature("unknown", "no thoughts were seen")
