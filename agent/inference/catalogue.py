"""Read a server's list of models: names, windows, and the kind of server. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agent.inference.capabilities import Feature
from agent.inference.findings import ProbeReply
from agent.inference.naming import same_model
from agent.inference.wire import read_token_count

_SHOWN_MODELS = 20
_SHOWN_CHARACTERS = 100  # of one name
_BY_OWNER = {
    "vllm": "vllm",
    "llamacpp": "llama.cpp",
    "library": "ollama",
    "intramural": "intramural-baselines",
}


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The reply to `GET /models`. It is not stored, since a server may write anything there.

    Attributes:
        names: the models' names as the server wrote them.
        also_named: other names that the list gives a model, such as the folder it was loaded from; by name.
        server: kind of server, or None when it does not show.
        windows: tokens of prompt and answer that a model takes as it is served; by name.
        trained: tokens of context that a model was made for; by name.
        not_language_models: names of which the server itself says that they are none.
        refused_token: the list was refused for want of a valid token.
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
        """Read the reply to `GET /models`, which some servers lack."""
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
        """Judge whether the list can vouch for the model."""
        if not self.listed:
            return Feature(
                "ignored", "lists no models, so the name of the model cannot be checked against it"
            )
        if model in self.names:
            return Feature("honoured", f"lists the model, among {len(self.names)}")
        return Feature(
            "ignored",
            f"lists {len(self.names)} models, but not the one asked for, which it serves all the same",
        )

    def offer(self) -> str:
        """Say which models the server offers, to a person who asked for another."""
        if not self.listed:
            return "The server lists no models."
        shown = ", ".join(map(_shorten_for_message, self.names[:_SHOWN_MODELS]))
        more = (
            f" and {len(self.names) - _SHOWN_MODELS} more"
            if len(self.names) > _SHOWN_MODELS
            else ""
        )
        return f"The server offers {len(self.names)}: {shown}{more}."

    def window(self, model: str, props: ProbeReply) -> int | None:
        """Return the tokens of prompt and answer that the server takes, or None when it does not say.

        Args:
            model: the one asked for.
            props: the reply to `GET /props`, which llama.cpp's server has.
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
        """Tell whether the list gives the model this other name."""
        return any(same_model(name, named) for name in self.also_named.get(model, ()))


def _list_entries(reply: ProbeReply) -> list[dict[str, object]]:
    data = reply.fields.get("data") if reply.status == 200 else None
    if not isinstance(data, list):
        return []
    return [entry for entry in data if isinstance(entry, dict)]


def _recognize_server(entries: Sequence[Mapping[str, object]]) -> str | None:
    """Recognize a kind of server by the owner that it writes beside its models."""
    owners = [entry.get("owned_by") for entry in entries]
    for owner, kind in _BY_OWNER.items():
        if owner in owners:
            return kind
    if any(entry.get("owned_by") == "me" and "permissions" in entry for entry in entries):
        return "llama-cpp-python"
    return None


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
    """Return the model's own window, or that of the only model: its server may answer to any name."""
    window = windows.get(model)
    if window is None and len(windows) == 1:
        return next(iter(windows.values()))
    return window


def _read_map(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _read_other_names(entry: Mapping[str, object]) -> tuple[str, ...]:
    """Read the other names that vLLM (root) and llama.cpp (aliases) give a listed model."""
    names = [entry.get("root")]
    aliases = entry.get("aliases")
    if isinstance(aliases, list):
        names += aliases
    return tuple(name for name in names if isinstance(name, str) and name)


def _shorten_for_message(name: str) -> str:
    """Cut a name that a server wrote to the printable characters that a message may hold."""
    return "".join(filter(str.isprintable, name[: 2 * _SHOWN_CHARACTERS]))[:_SHOWN_CHARACTERS]


def undo_own_defaults(
    server: str,
) -> tuple[Mapping[str, str | int | float | bool], tuple[str, ...]]:
    """Return fields that undo the server's own defaults, and notes on those that cannot be undone."""
    if server in ("llama.cpp", "llama-cpp-python"):
        note = "Servers of the llama.cpp family may punish repeated words by default; repeat_penalty=1.0 is sent."
        return {"repeat_penalty": 1.0}, (note,)
    if server == "ollama":
        note = (
            "Ollama takes repeat_penalty and the length of the context from its model file, not from requests, and cuts"
            " longer prompts without a word: name max_sequence_length and tokenizer_file in its deployment."
        )
        return {}, (note,)
    if server == "vllm":
        note = (
            "vLLM applies the model's own generation_config.json (a repetition_penalty, for example) unless it was"
            " started with `--generation-config vllm`."
        )
        return {}, (note,)
    if server == "transformers":
        note = "transformers serve draws its answers only if the model's generation_config.json says do_sample."
        return {}, (note,)
    return {}, ()
