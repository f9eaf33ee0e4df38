"""Names in HELM's files.

Names that are listed in a catalogue are shown, so that HELM's tools find them; others are replaced by labels. Labels
are keyed, so that a name cannot be guessed without the key; equal names have equal labels in all files. Instance
ids always become keyed hashes, because they are often record numbers. Labels and hashes consist of consonants only, so
that neither can hide a number or a word.
"""

import hmac
import re
from collections import Counter
from collections.abc import Callable
from typing import Final

from agent.exchange.helm.redaction.kinds import Kind
from agent.exchange.helm.redaction.vouched import vouched_names
from agent.exchange.json_path import PLAIN_NAME

KEY_BYTES: Final = 32
_MAX_RUN = 240  # characters; a run's name becomes a folder name
_DIGITS = "bcdfghjklmnpqrst"  # the hexadecimal digits of labels and hashes, written as consonants
_LABEL = re.compile(rf"name_[{_DIGITS}]{{12}}")
_ID = re.compile(rf"case-[{_DIGITS}]{{16}}")
_IN_DIGITS = str.maketrans("0123456789abcdef", _DIGITS)
_APART = re.compile(r"[_\-./:@=,]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SEPARATOR = re.compile(r"([:,])")
_NEVER_A_NAME = re.compile(
    r"path|file|dir|folder|config|url|host|address|user|token(?!s)|key|password|secret|^port$"
    r"|patient|person|mrn|ssn|birth|born|dob|encounter|account|hadm|phone|fax|mobile|e_?mail|zip|postal|login|street"
    r"|(^|_)(date|room|bed)($|_)|(^|_)(ids?|no|nr)$|(subject|visit|note|stay|member|record|case|row)_?(ids?|num|number)",
    re.IGNORECASE,
)  # settings with such words in their names describe a machine or a person

# Words in the names of public models: families and the words used with them. Redaction would take Claude for a person.
_FAMILIES = frozenset({
    "ada", "apertus", "aya", "baichuan", "biomistral", "claude", "command", "dbrx", "deepseek", "exaone", "falcon",
    "gemini", "gemma", "glm", "gpt", "granite", "grok", "idefics", "jais", "jamba", "jurassic", "kimi", "llama",
    "medgemma", "meditron", "ministral", "mistral", "mixtral", "mpt", "neoxt", "nova", "o", "olmo", "openflamingo",
    "opus", "oss", "palm", "palmyra", "phi", "pixtral", "qwen", "qwq", "r1", "reka", "sabia", "simple", "smollm",
    "solar", "titan", "whisper", "yi",
})  # fmt: skip
_BESIDE_A_FAMILY = frozenset({
    "a", "ai", "ai21", "aleph", "alpha", "amazon", "anthropic", "audio", "base", "bedrock", "bfrs", "chat", "code",
    "cohere", "core", "cot", "cpt", "disabled", "distill", "dspy", "edge", "effort", "embedding", "exp", "family",
    "flash", "fp", "fs", "google", "haiku", "high", "huggingface", "huggingfacem", "ibm", "instant", "instruct",
    "it", "large", "lionv", "lite", "low", "maritaca", "maverick", "max", "med", "medium", "meta", "microsoft",
    "mini", "miprov2", "mistralai", "model", "moonshotai", "mpt", "nano", "next", "nvidia", "openai", "p",
    "predict", "preview", "pro", "reasoning", "scout", "sea", "shc", "small", "sonnet", "stanfordhealthcare",
    "text", "thinking", "tiny", "together", "tput", "transcribe", "turbo", "upstage", "vertexai", "vitl", "vllm",
    "writer", "x", "xai", "zai", "zs",
})  # fmt: skip
_MODEL_WORDS = _FAMILIES | _BESIDE_A_FAMILY
# Dates from 2023 on; models with earlier dates are in the catalogue.
_MODEL_DATE = re.compile(r"202[3-9]([-_]?)[01]\d\1[0-3]\d|(?<!\d)2[3-9][01]\d[0-3]\d(?!\d)")
_MODEL_NUMBER = re.compile(
    r"[a-z]{0,2}\d{1,3}[a-z]{0,3}\d?|\d{1,2}x\d{1,3}b|[01]\d[0-3]\d|202[3-9]"
)
_MAX_DIGITS = 7  # maximum digits in a model's name, not counting its date
_MAX_WORDS = 14  # maximum words in a model's name
_MIN_WORD_LENGTH = 3  # characters; shorter names of people are not searched for in other names
_WORD = re.compile(r"[^\W_]+")


class Names:
    """Names as the redacted folder shows them. One object is used for the whole folder.

    Args:
        may_stay: decides whether an unknown name may be shown.
        key: 32 bytes, the key of labels and hashes.
        redacted_before: whether ids are already hashed, as in a folder written by this program.
    """

    def __init__(
        self, may_stay: Callable[[str], bool], key: bytes, *, redacted_before: bool
    ) -> None:
        self._may_stay = may_stay
        self._known = vouched_names()
        self._key = key
        self._redacted_before = redacted_before
        self._names: dict[str, str] = {}
        self._runs: dict[str, str] = {}
        self._hashed_ids: set[str] = (
            set()
        )  # hashes written so far, so that a second pass over the files leaves them unchanged
        self.labelled: Counter[Kind] = Counter()

    def show(self, name: str) -> str:
        """Return a short name without spaces unchanged if it reveals nothing about a person, otherwise its label."""
        if name not in self._names:
            self._names[name] = name if self._is_plain(name) else self.label(name)
        return self._names[name]

    def is_known(self, name: str) -> bool:
        """Return whether the name is publicly known (of a benchmark, metric or model), or is a label."""
        return name in self._known or bool(_LABEL.fullmatch(name)) or is_public_model(name)

    def label_always(self, name: str) -> str:
        """Treat a name as a person's from now on, in all files, and return its label."""
        self._names[name] = self.label(name)
        return self._names[name]

    def show_run(self, name: str) -> str:
        """Return the name of a run, `med_qa:subset=x,model=y`, with each part shown or labelled separately."""
        if name not in self._runs:
            self._runs[name] = self._show_parts_of_run(name)
        return self._runs[name]

    def _show_parts_of_run(self, name: str) -> str:
        parts = _SEPARATOR.split(name)
        parts[::2] = map(self._show_part_of_run, parts[::2])  # every second element is a separator
        shown = "".join(parts)
        if not shown or len(shown) > _MAX_RUN:
            return self.label(name)
        return shown

    def _show_part_of_run(self, part: str) -> str:
        key, equals, value = part.partition("=")
        if not equals:
            return self.show(part)
        shown_value = self.label(value) if is_private_setting(key) else self.show(value)
        return f"{self.show(key)}={shown_value}"

    def hash_id(self, raw_id: str) -> str:
        """Return the keyed hash of an instance's id, which is the same in all files."""
        is_hash = raw_id in self._hashed_ids or (self._redacted_before and _ID.fullmatch(raw_id))
        if is_hash:
            return raw_id
        hashed_id = "case-" + self._digest("id", raw_id)[:16]
        self._hashed_ids.add(hashed_id)
        return hashed_id

    def _is_plain(self, name: str) -> bool:
        if not any(map(str.isalnum, name)):
            return not name or bool(PLAIN_NAME.fullmatch(name))
        if self.is_known(name):
            return True
        return bool(PLAIN_NAME.fullmatch(name)) and self._may_stay(name)

    def label(self, name: str) -> str:
        """Return the keyed label of a name; a label is returned unchanged."""
        if _LABEL.fullmatch(name):
            return name
        self.labelled["names"] += 1
        return "name_" + self._digest("name", name)[:12]

    def _digest(self, kind: str, text: str) -> str:
        digest = hmac.digest(
            self._key, f"{kind}\0{text}".encode(errors="backslashreplace"), "sha256"
        )
        return digest.hex().translate(_IN_DIGITS)


def separate_words(name: str) -> str:
    """Return a name split into words: `seenBy_ward.7` becomes `seen By ward 7`."""
    return _APART.sub(" ", name).strip()


def split_words(name: str) -> frozenset[str]:
    """Return the lower-case words of a name that are long enough to be searched for as parts of a person's name."""
    return frozenset(
        word
        for word in _WORD.findall(separate_words(name).casefold())
        if len(word) >= _MIN_WORD_LENGTH
    )


def is_public_model(text: str) -> bool:
    """Return whether this is just the name of a publicly known model, such as `openai/gpt-4o-2024-05-13`."""
    undated = _MODEL_DATE.sub(" ", text)
    if sum(map(str.isdigit, undated)) > _MAX_DIGITS:
        return False
    words = [word.casefold() for word in _WORD.findall(undated)]
    if not 0 < len(words) <= _MAX_WORDS:
        return False
    names_a_family = False
    for word in words:
        bare = (
            word if word in _MODEL_WORDS else word.rstrip("0123456789")
        )  # qwen2 belongs to the family qwen
        names_a_family |= bare in _FAMILIES
        if bare not in _MODEL_WORDS and not _MODEL_NUMBER.fullmatch(word):
            return False
    return names_a_family


def is_private_setting(key: str) -> bool:
    """Return whether a setting of this name may describe a machine, secret or person; its value is then not shown."""
    return _NEVER_A_NAME.search(key) is not None


def list_model_words() -> frozenset[str]:
    """Return the words used in names of models, in lower case."""
    return _MODEL_WORDS
