"""Examine replies to questions of the probe: which features the server honours, in plain words. Pure."""

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
class ProbeReply:
    """The reply to one question of the probe, or the reason why none came."""

    status: int | None  # None: no complete reply
    fields: Mapping[str, object]
    response: Response | None
    understood: bool = False  # a reply in the form of the API, whatever its text
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
        return self.status in RETRIED_STATUSES or (
            self.status is None and not (self.obstacle or self.hung)
        )

    @property
    def named(self) -> str:
        """The name that an answer gives its model; empty when it gives none."""
        named = self.fields.get("model") if self.response else None
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
        choices = self.fields.get("choices")
        return choices if isinstance(choices, list) else []


def _explain_missing(reply: ProbeReply) -> Feature:
    if reply.status is None or reply.status == 200:
        return Feature("unknown", "no answer came to the question")
    if reply.status in (400, 422, 501):
        return Feature("refused", f"refused with HTTP {reply.status}")
    return Feature("unknown", f"the question failed with HTTP {reply.status}")


def examine_model_name(stranger: ProbeReply, listed: bool, renamed: bool) -> Feature:
    """Examine whether the server checks a model's name.

    Args:
        stranger: the reply to a question to a model that does not exist.
        listed: the server lists the model.
        renamed: replies name another model than was asked.
    """
    if renamed:
        return Feature(
            "ignored",
            "its replies name another model than the one asked for, which the list names too",
        )
    if stranger.status == 200:
        known = (
            "the list names the model" if listed else "what runs behind the name cannot be checked"
        )
        return Feature("ignored", f"answers to any name of a model; {known}")
    if stranger.status is None:
        return Feature("unknown", "no reply came to the question")
    return Feature("honoured", f"refuses a name it does not know (HTTP {stranger.status})")


def examine_token_limit(reply: ProbeReply) -> Feature:
    """Examine a limit of `FEW_TOKENS` tokens.

    A word is at least one token, so words are counted where tokens are not reported.
    """
    if reply.response is None:
        return _explain_missing(reply)
    words, tokens = len(reply.text.split()), reply.response.completion_tokens
    if words > FEW_TOKENS or (tokens is not None and tokens > FEW_TOKENS + _END_TOKENS):
        return Feature("ignored", f"wrote more than the {FEW_TOKENS} tokens allowed")
    if reply.response.finish_reason == "length":
        return Feature("honoured", f"stops at the limit of {FEW_TOKENS} tokens")
    return Feature("unknown", f"the answer was shorter than the limit of {FEW_TOKENS} tokens")


def compare_at_zero(first: ProbeReply, second: ProbeReply) -> Feature:
    """Examine two answers to the same question at temperature 0."""
    if first.response is None or second.response is None:
        return Feature("unknown", "no answer came to the question")
    if first.text == second.text:
        return Feature("honoured", "the same question at temperature 0 brought the same answer")
    return Feature("ignored", "the same question at temperature 0 brought different answers")


def examine_seeds(seven: ProbeReply, seven_again: ProbeReply, eight: ProbeReply) -> Feature:
    """Examine three answers at temperature 1: two with one seed, one with another."""
    for reply in (seven, seven_again, eight):
        if reply.response is None:
            return _explain_missing(reply)
    if seven.text != seven_again.text:
        return Feature("ignored", "the same seed brought different answers at temperature 1")
    if seven.text == eight.text:
        return Feature("unknown", "every seed brought the same answer at temperature 1")
    return Feature("honoured", "the same seed brought the same answer, another seed another")


def choose_stop_mark(text: str) -> str:
    """Choose a piece of an answer that stopping at must change: from its middle, not at its start."""
    middle = max(1, len(text) // 2)
    return text[middle : middle + 3].strip() if len(text) > 1 else ""


def examine_stop_sequence(reply: ProbeReply | None, mark: str, text: str) -> Feature:
    """Examine an answer that should have stopped at `mark`, beside `text`, the same answer without it."""
    if reply is None:
        return Feature("unknown", "the answer to the first question was too short to stop in")
    if reply.response is None:
        return _explain_missing(reply)
    if mark in reply.text:
        return Feature("ignored", "wrote on past a stop sequence")
    if text.startswith(reply.text):
        return Feature("honoured", "stops before a stop sequence")
    return Feature("unknown", "the answer changed, so it cannot be told whether it stopped")


def examine_several(reply: ProbeReply) -> Feature:
    """Examine a request for two answers."""
    if reply.status != 200:
        return _explain_missing(reply)
    if len(reply.choices) == 2:
        return Feature("honoured", "gave two answers when asked for two")
    return Feature("ignored", f"gave {len(reply.choices)} instead of two answers")


def examine_logprobs(reply: ProbeReply) -> Feature:
    """Examine a request for log probabilities."""
    if reply.status != 200:
        return _explain_missing(reply)
    choice = reply.choices[0] if reply.choices else None
    held = choice.get("logprobs") if isinstance(choice, dict) else None
    content = held.get("content") if isinstance(held, dict) else None
    if isinstance(content, list) and content:
        return Feature("honoured", "gives log probabilities of its tokens")
    return Feature("ignored", "gives no log probabilities when asked")


def examine_json_schema(reply: ProbeReply) -> Feature:
    """Examine an answer of which a schema allows only two forms."""
    if reply.status != 200:
        return _explain_missing(reply)
    value = parse_object(reply.response.text.encode("utf-8", "replace")) if reply.response else None
    if value is not None and set(value) == {"colour"} and value["colour"] in ("blue", "red"):
        return Feature("honoured", "holds its answer to a JSON schema")
    if reply.response is None:
        return _explain_missing(reply)
    begun = reply.response.text.strip()[:1] in ("", "{")
    if begun and reply.response.finish_reason == "length":
        return Feature("unknown", "the answer was cut off before it could be held to a JSON schema")
    return Feature("ignored", "answers without regard to a JSON schema")


def examine_usage(reply: ProbeReply) -> Feature:
    """Examine whether tokens are counted."""
    if reply.response is not None and reply.response.completion_tokens is not None:
        return Feature("honoured", "reports how many tokens were used")
    return Feature("ignored", "does not report how many tokens were used")


def thinks_inline(reply: Sequence[ProbeReply]) -> bool:
    """Tell whether thoughts begin or end inside an answer."""
    contents = (one.message.get("content") for one in reply)
    return any(isinstance(content, str) and has_thought_marks(content) for content in contents)


def thinks_apart(reply: Sequence[ProbeReply]) -> bool:
    """Tell whether the server keeps thoughts apart from answers."""
    return any(
        one.message.get("reasoning_content") or one.message.get("reasoning") for one in reply
    )


def examine_reasoning(
    reply: Sequence[ProbeReply], one_word: ProbeReply, *, marked: bool
) -> Feature:
    """Tell where thoughts appear, if any were reply.

    Args:
        reply: all replies.
        one_word: the reply to a question that one word answers. A model whose prompt begins its thought shows that
            only by the mark at the end, so it is given room to come that far.
        marked: the deployment says that the model thinks.
    """
    if thinks_inline(reply):
        return Feature(
            "ignored", "the model thinks first, inside its answer; the thoughts are taken out here"
        )
    if thinks_apart(reply):
        return Feature(
            "honoured", "the model thinks first, and the server keeps its thoughts apart"
        )
    if one_word.response is not None and one_word.response.finish_reason == "length":
        seen_so = f"wrote on for {THOUGHT_TOKENS} tokens when asked for one word"
        if marked:
            return Feature("ignored", f"{seen_so}, as a model that thinks inside its answer does")
        return Feature(
            "ignored", f"{seen_so}; if those are thoughts, mark the deployment as `reasoning: true`"
        )
    return Feature("unknown", "no thoughts were seen")
