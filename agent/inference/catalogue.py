"""Read a server's list of models: their names and windows, and the kind of server. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agent.inference.capabilities import Feature
from agent.inference.findings import ProbeReply
from agent.inference.naming import same_model
from agent.inference.wire import read_token_count

_SHOWN_MODELS = 20
_SHOWN_CHARACTERS = 100  # maximum per name
_BY_OWNER = {
    "vllm": "vllm",
    "llamacpp": "llama.cpp",
    "library": "ollama",
    "intramural": "intramural-baselines",
}
# Of a server that serves one model, since transformers 5.24.
_TRANSFORMERS_KEYS = {"id", "object", "created", "owned_by", "status"}


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The reply to `GET /models`, which is not stored, since it may contain any text.

    Attributes:
        names: the models' names.
        also_named: the other names of each model in the list, such as the folder that it was loaded from.
        server: the kind of server, or None if it was not recognised.
        windows: the maximum number of tokens in prompt and answer, by model.
        trained: the number of context tokens that a model was trained with, by model.
        not_language_models: the models that the server itself reports not to be language models.
        refused_token: whether the server refused to send the list because the token is missing or invalid.
    """

    names: tuple[str, ...]
    also_named: Mapping[str, tuple[str, ...]]
    server: str | None
    windows: Mapping[str, int]
    trained: Mapping[str, int]
    not_language_models: frozenset[str]
    refused_token: bool

    @property
    def listed(self) -> bool:
        """Whether any model was listed."""
        return bool(self.names)

    @classmethod
    def of(cls, reply: ProbeReply) -> "Catalogue":
        """Read the reply to `GET /models`, which some servers do not support."""
        entries = _list_entries(reply)
        models: dict[str, Mapping[str, object]] = {}
        for entry in entries:
            name = entry.get("id")
            if isinstance(name, str) and name:
                models[name] = entry
        server = _recognize_server(entries)
        if server is None and reply.server != "unknown":
            server = reply.server
        not_language_models = [
            name for name, entry in models.items() if entry.get("language_model") is False
        ]
        return cls(
            names=tuple(models),
            also_named={name: _read_other_names(entry) for name, entry in models.items()},
            server=server,
            windows=_read_token_counts(models, lambda entry: entry.get("max_model_len")),
            trained=_read_token_counts(
                models, lambda entry: _read_map(entry.get("meta")).get("n_ctx_train")
            ),
            not_language_models=frozenset(not_language_models),
            refused_token=reply.status in (401, 403),
        )

    def feature(self, model: str) -> Feature:
        """Return whether the list confirms the name of the model."""
        if not self.listed:
            return Feature("ignored", "lists no models, so the name of the model cannot be checked")
        count = len(self.names)
        if model in self.names:
            others = f"one of {count}" if count > 1 else "and no other"
            return Feature("honoured", f"lists the model, {others}")
        listed = f"{count} models" if count > 1 else "1 model"
        return Feature(
            "ignored", f"lists {listed}, but not the requested one, although it serves it"
        )

    def offer(self) -> str:
        """Describe which models the server offers, as advice when another was requested."""
        if not self.listed:
            return "The server lists no models."
        shown = ", ".join(map(_shorten_for_message, self.names[:_SHOWN_MODELS]))
        more = (
            f" and {len(self.names) - _SHOWN_MODELS} more"
            if len(self.names) > _SHOWN_MODELS
            else ""
        )
        return f"The server offers these models ({len(self.names)}): {shown}{more}."

    def window(self, model: str, props: ProbeReply) -> int | None:
        """Return the server's maximum number of tokens in prompt and answer, or None if it is not reported.

        Args:
            model: the name of the requested model.
            props: the reply to `GET /props`, which llama.cpp's server supports.
        """
        settings: Mapping[str, object] = {}
        if props.status == 200:
            settings = _read_map(props.fields.get("default_generation_settings"))
        windows = [_find_window(self.windows, model), read_token_count(settings.get("n_ctx"))]
        stated = [tokens for tokens in windows if tokens]
        if stated:
            return min(stated)
        return _find_window(self.trained, model)

    def knows_as(self, model: str, named: str) -> bool:
        """Return whether `named` is another name of the model in the list."""
        return any(same_model(name, named) for name in self.also_named.get(model, ()))


def _list_entries(reply: ProbeReply) -> list[dict[str, object]]:
    data = reply.fields.get("data") if reply.status == 200 else None
    if not isinstance(data, list):
        return []
    return [entry for entry in data if isinstance(entry, dict)]


def _recognize_server(entries: Sequence[Mapping[str, object]]) -> str | None:
    """Recognise the kind of server by the owner in its list of models."""
    owners = [entry.get("owned_by") for entry in entries]
    for owner, kind in _BY_OWNER.items():
        if owner in owners:
            return kind
    if any(entry.get("owned_by") == "me" and "permissions" in entry for entry in entries):
        return "llama-cpp-python"
    if any(map(_is_of_transformers, entries)):
        return "transformers"
    return None


def _is_of_transformers(entry: Mapping[str, object]) -> bool:
    """Return whether `transformers serve` describes a model so. It names the model's publisher as the owner."""
    status = _read_map(entry.get("status"))
    return entry.keys() == _TRANSFORMERS_KEYS and entry["created"] == 0 and "value" in status


def _read_token_counts(
    models: Mapping[str, Mapping[str, object]], read: Callable[[Mapping[str, object]], object]
) -> dict[str, int]:
    counts = {}
    for name, entry in models.items():
        tokens = read_token_count(read(entry))
        if tokens:
            counts[name] = tokens
    return counts


def _find_window(windows: Mapping[str, int], model: str) -> int | None:
    """Return the model's window, or that of the only listed model, since a server may accept any name for it."""
    window = windows.get(model)
    if window is None and len(windows) == 1:
        return next(iter(windows.values()))
    return window


def _read_map(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _read_other_names(entry: Mapping[str, object]) -> tuple[str, ...]:
    """Return a listed model's other names, which vLLM calls root and llama.cpp aliases."""
    names = [entry.get("root")]
    aliases = entry.get("aliases")
    if isinstance(aliases, list):
        names += aliases
    return tuple(name for name in names if isinstance(name, str) and name)


def _shorten_for_message(name: str) -> str:
    """Return the first printable characters of a name from a server, for use in a message."""
    return "".join(filter(str.isprintable, name[: 2 * _SHOWN_CHARACTERS]))[:_SHOWN_CHARACTERS]


def undo_own_defaults(
    server: str,
) -> tuple[Mapping[str, str | int | float | bool], tuple[str, ...]]:
    """Return fields that undo the server's own defaults, and notes about defaults for display."""
    if server in ("llama.cpp", "llama-cpp-python"):
        note = "Servers of the llama.cpp family may penalise repeated words by default; repeat_penalty=1.0 is sent."
        return {"repeat_penalty": 1.0}, (note,)
    if server == "ollama":
        note = (
            "Ollama reads repeat_penalty and the context length from its model file, not from requests, and silently"
            " truncates longer prompts; set max_sequence_length and tokenizer_file in its deployment."
        )
        return {}, (note,)
    if server == "vllm":
        note = (
            "vLLM applies the model's own generation_config.json (for example, a repetition_penalty) unless it is"
            " started with `--generation-config vllm`."
        )
        return {}, (note,)
    if server == "transformers":
        note = "`transformers serve` samples answers only if the model's generation_config.json sets do_sample."
        return {}, (note,)
    return {}, ()
