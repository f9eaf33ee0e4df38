"""Determine from the replies to the capability probe which features a server honours. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.inference.capabilities import Feature
from agent.inference.closed_questions import (
    TOP_LOGPROBS,
    ChoiceField,
    iter_first_tokens,
    read_chosen_option,
    sum_text_logprobs,
)
from agent.inference.connection import Obstacle
from agent.inference.retry import RETRIED_STATUSES
from agent.inference.wire import parse_object
from agent.reading.thoughts import has_thought_marks
from agent.vocabulary import Response

FEW_TOKENS = 8  # the token limit of most probe questions
# The token limit of the one-word question. The question is so easy that reasoning should end within this limit.
THOUGHT_TOKENS = 256
_END_TOKENS = 2  # tolerance for servers that count the tokens that end an answer


@dataclass(frozen=True, slots=True)
class ProbeReply:
    """The reply to one probe question, or the reason why there is none.

    Attributes:
        status: the HTTP status; None without a complete reply.
        fields: the fields of the JSON body.
        response: the response, if the reply contains one.
        understood: whether the reply has the structure that the API requires, regardless of its text.
        server: the kind of server, if this reply shows it, or "unknown".
        obstacle: the reason why no connection could be opened; None if one was opened.
        hung: whether there was no reply in time.
    """

    status: int | None
    fields: Mapping[str, object]
    response: Response | None
    understood: bool = False
    server: str = "unknown"
    obstacle: Obstacle | None = None
    hung: bool = False

    @property
    def text(self) -> str:
        """The reasoning and the answer. A low token limit may stop a reasoning model before its answer."""
        return self.response.reasoning + self.response.text if self.response else ""

    @property
    def passing(self) -> bool:
        """Whether the failure may be temporary, so that a later request may succeed."""
        return self.status in RETRIED_STATUSES or (
            self.status is None and not (self.obstacle or self.hung)
        )

    @property
    def named(self) -> str:
        """The model's name in the reply, or an empty string."""
        named = self.fields.get("model") if self.response else None
        return named if isinstance(named, str) else ""

    @property
    def message(self) -> Mapping[str, object]:
        """The message of the first choice, or an empty map."""
        choice = self.choices[0] if self.choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        return message if isinstance(message, dict) else {}

    @property
    def choices(self) -> list[object]:
        """The reply's choices, or an empty list."""
        choices = self.fields.get("choices")
        return choices if isinstance(choices, list) else []


def _explain_missing(reply: ProbeReply) -> Feature:
    if reply.status is None or reply.status == 200:
        return Feature("unknown", "the question was not answered")
    if reply.status in (400, 422, 501):
        return Feature("refused", f"refused with HTTP {reply.status}")
    return Feature("unknown", f"the question failed with HTTP {reply.status}")


def examine_model_name(stranger: ProbeReply, listed: bool, renamed: bool) -> Feature:
    """Determine whether the server checks the name of the model.

    Args:
        stranger: the reply to a request for a model that does not exist.
        listed: whether the server lists the model.
        renamed: whether replies have a model name other than the requested one.
    """
    if renamed:
        return Feature(
            "ignored",
            "its replies have a model name other than the requested one, although the list contains the requested one",
        )
    if stranger.status == 200:
        known = (
            "the list contains the model"
            if listed
            else "it cannot be checked which model the name stands for"
        )
        return Feature("ignored", f"accepts any model name; {known}")
    if stranger.status is None:
        return Feature("unknown", "there was no reply to the question")
    return Feature("honoured", f"refuses unknown model names (HTTP {stranger.status})")


def examine_token_limit(reply: ProbeReply) -> Feature:
    """Determine whether a limit of `FEW_TOKENS` tokens is honoured.

    A word has at least one token, so words are counted as well, in case tokens are not reported.
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
    """Compare two answers to the same question at temperature 0."""
    if first.response is None or second.response is None:
        return Feature("unknown", "the question was not answered")
    if first.text == second.text:
        return Feature("honoured", "the same question at temperature 0 got the same answer twice")
    return Feature("ignored", "the same question at temperature 0 got different answers")


def examine_seeds(seven: ProbeReply, seven_again: ProbeReply, eight: ProbeReply) -> Feature:
    """Compare three answers at temperature 1, two of them with the same seed."""
    for reply in (seven, seven_again, eight):
        if reply.response is None:
            return _explain_missing(reply)
    if seven.text != seven_again.text:
        return Feature("ignored", "the same seed gave different answers at temperature 1")
    if seven.text == eight.text:
        return Feature("unknown", "different seeds gave the same answer at temperature 1")
    return Feature(
        "honoured", "the same seed gave the same answer, and another seed gave a different one"
    )


def choose_stop_mark(text: str) -> str:
    """Return a piece from the middle of an answer, so that stopping before it shortens the answer."""
    middle = max(1, len(text) // 2)
    return text[middle : middle + 3].strip() if len(text) > 1 else ""


def examine_stop_sequence(reply: ProbeReply | None, mark: str, text: str) -> Feature:
    """Determine whether an answer stopped before `mark`; `text` is the answer without stop sequence."""
    if reply is None:
        return Feature(
            "unknown", "the answer to the first question was too short for a stop sequence"
        )
    if reply.response is None:
        return _explain_missing(reply)
    if mark in reply.text:
        return Feature("ignored", "does not stop at a stop sequence")
    if text.startswith(reply.text):
        return Feature("honoured", "stops before a stop sequence")
    return Feature(
        "unknown", "the answer changed, so it is not known whether the stop sequence took effect"
    )


def examine_several(reply: ProbeReply) -> Feature:
    """Determine whether a request for two answers returned two."""
    if reply.status != 200:
        return _explain_missing(reply)
    if len(reply.choices) == 2:
        return Feature("honoured", "returned two answers when two were requested")
    return Feature("ignored", f"returned {len(reply.choices)} instead of two answers")


def examine_logprobs(reply: ProbeReply) -> Feature:
    """Determine whether a request for log probabilities returned them."""
    if reply.status != 200:
        return _explain_missing(reply)
    choice = reply.choices[0] if reply.choices else None
    logprobs = choice.get("logprobs") if isinstance(choice, dict) else None
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if isinstance(content, list) and content:
        return Feature("honoured", "returns log probabilities of its tokens")
    return Feature("ignored", "does not return log probabilities when requested")


def examine_top_logprobs(reply: ProbeReply) -> Feature:
    """Determine whether a request for the likeliest first tokens returned several."""
    if reply.status != 200:
        return _explain_missing(reply)
    tokens = {token for token, _ in iter_first_tokens(reply.fields)}
    if len(tokens) < 2:
        return Feature(
            "ignored", "does not return the log probabilities of the likeliest first tokens"
        )
    return Feature(
        "honoured",
        f"returns the log probabilities of {len(tokens)} first tokens ({TOP_LOGPROBS} requested)",
    )


def examine_prompt_logprobs(continued: ProbeReply, plain: ProbeReply, text: str) -> Feature:
    """Determine whether the server scores a text with which a request's last message begins the answer.

    Args:
        continued: the reply to the plain question with the beginning of an answer.
        plain: the reply to the plain question.
        text: the beginning of the answer.
    """
    if continued.status != 200:
        return _explain_missing(continued)
    context_tokens = plain.response.prompt_tokens if plain.response else None
    if context_tokens is None:
        return Feature("unknown", "does not report the number of tokens in a prompt")
    if sum_text_logprobs(continued.fields, text, context_tokens) is None:
        return Feature(
            "ignored", "does not return the log probabilities of a given answer's tokens"
        )
    return Feature("honoured", "returns the log probabilities of a given answer's tokens")


def find_choice_field(
    replies: Sequence[tuple[ChoiceField, ProbeReply]], options: Sequence[str], json_schema: Feature
) -> ChoiceField | None:
    """Return the first field with which an answer was limited to the options; None if there is none.

    Args:
        replies: the replies to a question to which no option is an answer, each with the field that was sent.
        options: the options.
        json_schema: the finding about JSON schemas.
    """
    for choice_field, reply in replies:
        if reply.response is not None and read_chosen_option(reply.response.text, options):
            return choice_field
    return "response_format" if json_schema.state == "honoured" else None


def describe_choice(choice_field: ChoiceField | None) -> Feature:
    """Return the finding about limiting an answer to options."""
    if choice_field is None:
        return Feature("ignored", "does not limit an answer to given options")
    return Feature("honoured", f"limits an answer to given options ({choice_field})")


def examine_json_schema(reply: ProbeReply) -> Feature:
    """Determine whether an answer has one of the two forms that the requested schema allows."""
    if reply.status != 200:
        return _explain_missing(reply)
    value = parse_object(reply.response.text.encode("utf-8", "replace")) if reply.response else None
    if value is not None and set(value) == {"colour"} and value["colour"] in ("blue", "red"):
        return Feature("honoured", "follows a JSON schema")
    if reply.response is None:
        return _explain_missing(reply)
    begun = reply.response.text.strip()[:1] in ("", "{")
    if begun and reply.response.finish_reason == "length":
        return Feature(
            "unknown", "the answer was cut off before it could be checked against a JSON schema"
        )
    return Feature("ignored", "does not follow a JSON schema")


def examine_usage(reply: ProbeReply) -> Feature:
    """Determine whether the reply reports the number of tokens."""
    if reply.response is not None and reply.response.completion_tokens is not None:
        return Feature("honoured", "reports the number of tokens")
    return Feature("ignored", "does not report the number of tokens")


def thinks_inline(replies: Sequence[ProbeReply]) -> bool:
    """Return whether any answer contains a mark where reasoning begins or ends."""
    contents = (reply.message.get("content") for reply in replies)
    return any(isinstance(content, str) and has_thought_marks(content) for content in contents)


def thinks_apart(replies: Sequence[ProbeReply]) -> bool:
    """Return whether the server separates reasoning from answers."""
    return any(
        reply.message.get("reasoning_content") or reply.message.get("reasoning")
        for reply in replies
    )


def examine_reasoning(
    replies: Sequence[ProbeReply], one_word: ProbeReply, *, marked: bool
) -> Feature:
    """Determine where the model's reasoning appears, if there is any.

    Args:
        replies: all replies.
        one_word: the reply to a question that can be answered in one word. If the prompt template begins the
            reasoning, only the mark at its end is visible, so this question has a higher token limit.
        marked: whether the deployment is marked as a reasoning model.
    """
    if thinks_inline(replies):
        return Feature(
            "ignored", "the model reasons inside its answer; the agent removes the reasoning"
        )
    if thinks_apart(replies):
        return Feature(
            "honoured", "the model reasons first, and the server separates its reasoning"
        )
    if one_word.response is not None and one_word.response.finish_reason == "length":
        finding = f"wrote {THOUGHT_TOKENS} tokens when asked for one word"
        if marked:
            return Feature("ignored", f"{finding}, like a model that reasons inside its answer")
        return Feature(
            "ignored",
            f"{finding}; if this is reasoning, set `reasoning: true` in the deployment",
        )
    return Feature("unknown", "no reasoning was found")
