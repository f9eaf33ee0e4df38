"""Which models are of one family: a judge may favour answers of its own kind, so that such a pair is marked.

A family is read from the model's name. A model that was made from another's weights or answers belongs to both, where
its name says so; what a name does not say is not known.
"""

import re

# What a name's word begins with -> families. Longer words first where one begins another.
_KNOWN: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("huatuogpt", ("huatuo",)),
    ("biomedgpt", ("biomedgpt",)),
    ("biogpt", ("biogpt",)),
    ("chatgpt", ("gpt",)),
    ("gpt", ("gpt",)),
    ("davinci", ("gpt",)),
    ("codellama", ("llama",)),
    ("llama", ("llama",)),
    ("alpaca", ("llama",)),
    ("vicuna", ("llama",)),
    ("med42", ("med42", "llama")),
    ("meditron", ("meditron", "llama")),
    ("openbiollm", ("openbiollm", "llama")),
    ("meerkat", ("meerkat",)),
    ("nemotron", ("nemotron",)),
    ("biomistral", ("mistral",)),
    ("mistral", ("mistral",)),
    ("mixtral", ("mistral",)),
    ("ministral", ("mistral",)),
    ("magistral", ("mistral",)),
    ("devstral", ("mistral",)),
    ("codestral", ("mistral",)),
    ("pixtral", ("mistral",)),
    ("zephyr", ("mistral",)),
    ("medgemma", ("gemini",)),
    ("txgemma", ("gemini",)),
    ("gemma", ("gemini",)),
    ("gemini", ("gemini",)),
    ("palm", ("gemini",)),
    ("medlm", ("gemini",)),
    ("claude", ("claude",)),
    ("deepseek", ("deepseek",)),
    ("qwen", ("qwen",)),
    ("qwq", ("qwen",)),
    ("phi", ("phi",)),
    ("command", ("command",)),
    ("aya", ("command",)),
    ("granite", ("granite",)),
    ("olmo", ("olmo",)),
    ("tulu", ("olmo",)),
    ("falcon", ("falcon",)),
    ("chatglm", ("glm",)),
    ("glm", ("glm",)),
    ("kimi", ("kimi",)),
    ("grok", ("grok",)),
    ("minimax", ("minimax",)),
    ("internlm", ("internlm",)),
    ("baichuan", ("baichuan",)),
    ("yi", ("yi",)),
    ("smollm", ("smollm",)),
    ("nova", ("nova",)),
)
_WHOLE = {"phi", "yi", "nova", "aya", "command", "palm", "kimi"}  # words of other names too: taken only as a whole
_WORD = re.compile(r"[a-z]+[0-9]*")
_OPENAI_SERIES = re.compile(r"o[134]")


def family(model_name: str) -> str:
    """Return the family of a model by its name ("meta/llama-3.3-70b-instruct" -> "llama"); its own where unknown."""
    return _families(model_name)[0]


def same_family(a: str, b: str) -> bool:
    """Tell whether two models share a family, as far as their names say."""
    return not set(_families(a)).isdisjoint(_families(b))


def _families(model_name: str) -> tuple[str, ...]:
    organisation, _, name = model_name.casefold().rpartition("/")
    words = _WORD.findall(name)
    found = [known for word in words for known in _of_word(word)]
    if not found and organisation.rpartition("/")[2] in ("", "openai") and _OPENAI_SERIES.match(name):
        found = ["gpt"]
    if not found:
        found = [known for word in _WORD.findall(organisation) for known in _of_word(word)]
    return tuple(dict.fromkeys(found)) or (words[0].rstrip("0123456789") if words else name,)


def _of_word(word: str) -> tuple[str, ...]:
    for beginning, families in _KNOWN:
        if word.rstrip("0123456789") == beginning or (word.startswith(beginning) and beginning not in _WHOLE):
            return families
    return ()
