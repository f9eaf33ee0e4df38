"""Limit a verdict: the JSON schema that a server enforces, and the tokens that a reply may have. Pure."""

import math
from collections.abc import Mapping

from agent.jury.rubric import SCORE, Rubric
from agent.metrics import Scale

# Maximum tokens of a reply by a model that thinks: the thoughts, and the verdict after them.
THINKING_TOKENS = 4096
# Maximum characters of a text in a verdict, such as an explanation, where a server enforces it. The judge is asked for
# a sentence or two.
TEXT_CHARACTERS = 240
# Tokens for such a text. English has 4 to 5 characters a token, other languages about 3, and numbers 1 to 2.
_TEXT_TOKENS = 120
_CHARACTERS_A_TOKEN = (
    2  # of the names of criteria and fields, some of which a tokenizer splits into short pieces
)
_PUNCTUATION_TOKENS = (
    6  # quotes, colon, comma, braces and line breaks around one entry of an object
)
_MARK_TOKENS = 40  # the mark of 16 or more hexadecimal digits
_PROSE_TOKENS = 60  # a sentence before the object, or the fence around it
_MAX_MARK = 64  # characters; a mark is lengthened by 8 for as long as it occurs in a judged text

# Servers that enforce schemas, including the length of texts. Others may refuse a schema that states a length.
ENFORCING_SERVERS = frozenset({"vllm", "llama.cpp", "llama-cpp-python", "ollama"})

# Longest scale -> step of the scores that are listed for it, in hundredths. On longer scales a score may be any number.
_STEPS = ((2, 5), (50, 50), (100, 100))
_LEAST_LISTED = 5  # a scale with fewer round numbers is too short to be judged in such steps


def limit_verdict_tokens(rubric: Rubric, window: int | None, *, thinks: bool) -> int:
    """Return the maximum tokens of a reply to a judge's request, at least 1.

    Args:
        rubric: the criteria and texts that the verdict must contain.
        window: the judge's context window in tokens, half of which is left for the prompt; None if unknown.
        thinks: whether the model thinks before it replies.
    """
    tokens = estimate_verdict_tokens(rubric)
    if thinks:
        # A verdict with very many texts still leaves half of this room for thoughts.
        tokens = max(THINKING_TOKENS, THINKING_TOKENS // 2 + tokens)
    return tokens if window is None else max(1, min(tokens, window // 2))


def estimate_verdict_tokens(rubric: Rubric) -> int:
    """Return the tokens that a verdict needs if its texts are a sentence or two each."""
    tokens = _PROSE_TOKENS + _MARK_TOKENS
    for criterion in rubric.criteria:
        tokens += _count_name_tokens(criterion) + _count_name_tokens(SCORE)
        tokens += len(f"{rubric.scale.high:g}")
        for field in rubric.fields[criterion]:
            tokens += _count_name_tokens(field) + _TEXT_TOKENS
    return tokens


def _count_name_tokens(name: str) -> int:
    """Return the tokens of a key of an object, with its punctuation."""
    return math.ceil(len(name) / _CHARACTERS_A_TOKEN) + _PUNCTUATION_TOKENS


def build_response_format(rubric: Rubric, server: str) -> dict[str, object]:
    """Return the schema of a verdict for `ChatRequest.extra_body["response_format"]`.

    Explanations precede the score, so that the judge explains before it grades. Scores are listed, because servers
    treat the limits of a number differently. The mark may be any string, so that all requests of a jury share one
    schema, which servers compile, and so that a planted verdict that the judge copies shows by its lack of the mark.

    Args:
        rubric: the rubric of the jury.
        server: the kind of server, `Capabilities.server`.
    """
    is_bounded = server in ENFORCING_SERVERS
    text = _build_text_schema(TEXT_CHARACTERS if is_bounded else None)
    properties: dict[str, object] = {
        rubric.mark: _build_text_schema(_MAX_MARK if is_bounded else None)
    }
    for criterion in rubric.criteria:
        fields: dict[str, object] = dict.fromkeys(rubric.fields[criterion], text)
        fields[SCORE] = _build_score_schema(rubric.scale)
        properties[criterion] = _build_object_schema(fields)
    return {
        "type": "json_schema",
        "json_schema": {
            "name": "verdict",
            "strict": True,
            "schema": _build_object_schema(properties),
        },
    }


def _build_text_schema(max_characters: int | None) -> dict[str, object]:
    if max_characters is None:
        return {"type": "string"}
    return {"type": "string", "maxLength": max_characters}


def _build_score_schema(scale: Scale) -> dict[str, object]:
    """Return the schema of a score: the round numbers of the scale, or any number if they do not suit it."""
    scores = _list_scores(scale)
    return {"type": "number", "enum": scores} if scores else {"type": "number"}


def _list_scores(scale: Scale) -> list[int | float]:
    """Return every twentieth of a short scale, every half of a usual one, or every whole number.

    The list is empty if the scale is long, if it is very short, or if one of its ends is not a round number: the best
    or the worst grade could not be written otherwise.
    """
    step = next((step for length, step in _STEPS if scale.high - scale.low <= length), None)
    if step is None:
        return []
    # In hundredths, because floating-point sums of 0.05 are not round.
    first, last = math.ceil(round(scale.low * 100, 6)), math.floor(round(scale.high * 100, 6))
    scores: list[int | float] = []
    for hundredths in range(first, last + 1):
        if hundredths % step == 0:
            # Servers compare listed values as text, and judges write 4 rather than 4.0.
            scores.append(hundredths // 100 if hundredths % 100 == 0 else hundredths / 100)
    has_ends = bool(scores) and scores[0] == scale.low and scores[-1] == scale.high
    return scores if has_ends and len(scores) >= _LEAST_LISTED else []


def _build_object_schema(properties: Mapping[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
