"""Names in HELM's files: what says nothing of a person stays, so that HELM's tools find their way; others get labels.

A label is keyed, so that nobody without the key can find out what it stands for by trying; equal names have equal
labels in all files. Ids of instances become keyed hashes always: they often are numbers of records.
"""

import hmac
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Final

from agent.catalog.benchmark import survey_benchmarks
from agent.exchange.json_place import PLAIN_NAME
from agent.metrics import METRICS
from agent.redaction import Redactor

KEY_BYTES: Final = 32
_LONGEST_RUN = 240  # characters; a run's name is a folder's
_LABEL = re.compile(r"name_[0-9a-f]{12}")
_ID = re.compile(r"case-[0-9a-f]{16}")
_APART = re.compile(r"[_\-./:@=,]+|(?<=[a-z])(?=[A-Z])")
_LONG_NUMBER = re.compile(r"\d{6,}")
_SEPARATOR = re.compile(r"([:,])")
_NEVER_A_NAME = re.compile(
    r"path|file|dir|folder|config|url|host|address|user|token|key|password|secret"
    r"|patient|person|mrn|ssn|birth|dob|encounter|account",
    re.IGNORECASE,
)  # settings with such words in their names are of a machine or a person
_HELM_CLASS = re.compile(r"helm(\.[A-Za-z_][A-Za-z0-9_]*){2,8}")

# Models that everybody may name: a redactor takes Claude for a person. Families, and words beside them.
_FAMILIES = frozenset({
    "reka", "ada",
    "apertus", "aya", "baichuan", "biomistral", "claude", "command", "dbrx", "deepseek", "exaone", "falcon",
    "gemini", "gemma", "glm", "gpt", "granite", "grok", "jamba", "jurassic", "kimi", "llama", "medgemma",
    "meditron", "ministral", "mistral", "mixtral", "mpt", "nova", "o", "olmo", "opus", "oss", "palm", "palmyra",
    "phi", "pixtral", "qwen", "qwq", "r1", "simple", "solar", "titan", "yi",
})  # fmt: skip
_BESIDE_A_FAMILY = frozenset({
    "thinking", "instant", "stanfordhealthcare", "dspy", "fs", "bfrs", "zs", "cot", "predict", "miprov2", "core",
    "edge", "text", "embedding",
    "ai21", "aleph", "alpha", "amazon", "anthropic", "bedrock", "chat", "cohere", "distill", "flash", "google",
    "haiku", "huggingface", "ibm", "instruct", "it", "large", "lite", "maverick", "max", "med", "medium", "meta",
    "microsoft", "mini", "mistralai", "model", "moonshotai", "nano", "nvidia", "openai", "preview", "pro",
    "reasoning", "scout", "small", "sonnet", "tiny", "together", "turbo", "upstage", "vertexai", "vllm", "writer",
    "xai", "zai",
})  # fmt: skip
_MODEL_NUMBER = re.compile(r"[a-z]{0,2}\d{1,4}[a-z]{0,3}\d?|(?:20)?2\d[01]\d[0-3]\d")
_MOST_WORDS = 14  # of a model's name
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Judges:
    """What clears texts, and what says whether a name may stay."""

    texts: Redactor
    names: Redactor


class Names:
    """Names as the redacted folder has them. One for the whole folder.

    Args:
        redactor: judges names that are not known.
        key: 32 bytes, of labels and hashes.
        redacted_before: whether the ids were hashed already, as in a folder that this program wrote.
    """

    def __init__(self, redactor: Redactor, key: bytes, *, redacted_before: bool) -> None:
        self._redactor = redactor
        self._known = _catalogued()
        self._key = key
        self._redacted_before = redacted_before
        self._names: dict[str, str] = {}
        self._runs: dict[str, str] = {}
        self._identities: set[str] = set()  # those made here: files are gone through until nothing changes
        self.labelled: Counter[str] = Counter()

    def shown(self, name: str) -> str:
        """Return a name of few characters and no spaces as it is if it says nothing of a person, else its label."""
        if name not in self._names:
            self._names[name] = name if self._is_plain(name) else self.label(name)
        return self._names[name]

    def never(self, name: str) -> str:
        """Take a name for a person's from now on, in all files; return its label."""
        self._names[name] = self.label(name)
        return self._names[name]

    def run(self, name: str) -> str:
        """Return what a run is called: `med_qa:subset=x,model=y`, each part judged by itself."""
        if name not in self._runs:
            parts = _SEPARATOR.split(name)
            parts[::2] = map(self._part_of_run, parts[::2])
            shown = "".join(parts) or self.label(name)
            self._runs[name] = shown if len(shown) <= _LONGEST_RUN else self.label(name)
        return self._runs[name]

    def identity(self, raw: str) -> str:
        """Return the keyed hash of an instance's id, the same in all files."""
        if raw in self._identities or (self._redacted_before and _ID.fullmatch(raw)):
            return raw
        made = "case-" + self._digest("id", raw)[:16]
        self._identities.add(made)
        return made

    def _part_of_run(self, part: str) -> str:
        key, equals, value = part.partition("=")
        if not equals:
            return self.shown(part)
        shown = self.label(value) if is_private_setting(key) else self.shown(value)
        return f"{self.shown(key)}={shown}"

    def _is_plain(self, name: str) -> bool:
        if not any(map(str.isalnum, name)):
            return not name or bool(PLAIN_NAME.fullmatch(name))
        if not PLAIN_NAME.fullmatch(name):
            return _HELM_CLASS.fullmatch(name) is not None
        if name in self._known or _LABEL.fullmatch(name) or _HELM_CLASS.fullmatch(name) or is_public_model(name):
            return True
        if _LONG_NUMBER.search(name):
            return False
        words = spaced(name)
        return all(self._redactor.redact(text) == text for text in {name, words, words.title()})

    def label(self, name: str) -> str:
        """Return the keyed label of a name; a label is its own."""
        if _LABEL.fullmatch(name):
            return name
        self.labelled["names"] += 1
        return "name_" + self._digest("name", name)[:12]

    def _digest(self, kind: str, text: str) -> str:
        return hmac.digest(self._key, f"{kind}\0{text}".encode(errors="backslashreplace"), "sha256").hex()


def spaced(name: str) -> str:
    """Return the words of a name: `seenBy_ward.7` is `seen By ward 7`."""
    return _APART.sub(" ", name).strip()


def is_public_model(text: str) -> bool:
    """Whether this names a model that everybody knows, and says nothing else: `openai/gpt-4o-2024-05-13`."""
    words = [word.casefold() for word in _WORD.findall(text)]
    bare = [word if word in _FAMILIES or word in _BESIDE_A_FAMILY else word.rstrip("0123456789") for word in words]
    return (
        0 < len(words) <= _MOST_WORDS
        and not _FAMILIES.isdisjoint(bare)
        and all(
            short in _FAMILIES or short in _BESIDE_A_FAMILY or _MODEL_NUMBER.fullmatch(word)
            for word, short in zip(words, bare, strict=True)
        )
    )


def is_private_setting(key: str) -> bool:
    """Whether a setting of this name tells of a machine, a secret or a person, so that its value is not shown."""
    return _NEVER_A_NAME.search(key) is not None


@cache
def _catalogued() -> frozenset[str]:
    """Return what HELM and we call the benchmarks and metrics that everybody knows."""
    catalogue, _ = survey_benchmarks(None)
    names: set[str] = set(METRICS)
    for benchmark in catalogue.values():
        names |= {benchmark.id, *benchmark.aliases, *benchmark.helm_groups}
        names |= {use.helm_name or use.name for use in benchmark.metrics}
    return frozenset(names)
