"""Identify the family of a model by its name, because a judge may prefer answers from its own family.

A model made from another model's weights or answers belongs to both families if its name shows it.
"""

import re

# Beginning of a word in a name -> families. If one entry begins another, the longer entry comes first.
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
# These words also occur within other words, so only the whole word counts.
_WHOLE = {"phi", "yi", "nova", "aya", "command", "palm", "kimi"}
_WORD = re.compile(r"[a-z]+[0-9]*")
_OPENAI_SERIES = re.compile(r"o[134]")  # o1, o3 and o4 do not name their family


def is_same_family(model_a: str, model_b: str) -> bool:
    """Return whether two models share a family, judging by their names."""
    return not set(_list_families(model_a)).isdisjoint(_list_families(model_b))


def _list_families(model_name: str) -> tuple[str, ...]:
    """Return every family of a model, at least one: a name without a known word is its own family."""
    organisation, _, name = model_name.casefold().rpartition("/")
    families = _find_families(name)
    if not families and _is_openai_series(organisation, name):
        families = ["gpt"]
    if not families:
        families = _find_families(organisation)
    if families:
        return tuple(families)
    words = _WORD.findall(name)
    return (_drop_version(words[0]),) if words else (name,)


def _find_families(text: str) -> list[str]:
    """Return the families named by the words of a text, in order and without repetition."""
    families: dict[str, None] = {}
    for word in _WORD.findall(text):
        families.update(dict.fromkeys(_find_families_of_word(word)))
    return list(families)


def _find_families_of_word(word: str) -> tuple[str, ...]:
    for beginning, families in _KNOWN:
        is_whole_word = _drop_version(word) == beginning
        may_begin_longer_word = beginning not in _WHOLE
        if is_whole_word or (may_begin_longer_word and word.startswith(beginning)):
            return families
    return ()


def _is_openai_series(organisation: str, name: str) -> bool:
    # Other organisations may also call their models o1.
    last_part = organisation.rpartition("/")[2]
    return last_part in ("", "openai") and _OPENAI_SERIES.match(name) is not None


def _drop_version(word: str) -> str:
    """Return a word without its trailing digits: llama3 -> llama."""
    return word.rstrip("0123456789")
