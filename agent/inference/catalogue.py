"""What a server's list of models says: names, and what kind of server it is. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agent.inference.capabilities import Feature
from agent.inference.findings import Seen
from agent.inference.naming import same_model
from agent.inference.wire import token_count

_SHOWN_MODELS = 20
_SHOWN_CHARACTERS = 100  # of one name
_BY_OWNER = {"vllm": "vllm", "llamacpp": "llama.cpp", "library": "ollama", "intramural": "intramural-baselines"}


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What `GET /models` said, as long as the probe lasts: a server may write anything there, so none of it is kept.

    Attributes:
        names: the models' names as the server wrote them.
        also_named: what else the list calls a model, such as the folder it was loaded from; by name.
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
    def of(cls, seen: Seen) -> "Catalogue":
        """Read the reply to `GET /models`, which some servers lack."""
        data = seen.reply.get("data") if seen.status == 200 else None
        entries = [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []
        named = {name: entry for entry in entries if isinstance(name := entry.get("id"), str) and name}
        owners = [entry.get("owned_by") for entry in entries]
        kinds = [kind for owner, kind in _BY_OWNER.items() if owner in owners]
        if any(entry.get("owned_by") == "me" and "permissions" in entry for entry in entries):
            kinds.append("llama-cpp-python")
        return cls(
            names=tuple(named),
            also_named={name: _other_names(entry) for name, entry in named.items()},
            server=kinds[0] if kinds else (seen.server if seen.server != "unknown" else None),
            windows=_whole(named, lambda entry: entry.get("max_model_len")),
            trained=_whole(named, lambda entry: _map(entry.get("meta")).get("n_ctx_train")),
            not_language_models=frozenset(
                name for name, entry in named.items() if entry.get("language_model") is False
            ),
            refused_token=seen.status in (401, 403),
        )

    def feature(self, model: str) -> Feature:
        """Judge whether the list can vouch for the model."""
        if not self.listed:
            return Feature("ignored", "lists no models, so the name of the model cannot be checked against it")
        if model in self.names:
            return Feature("honoured", f"lists the model, among {len(self.names)}")
        return Feature(
            "ignored", f"lists {len(self.names)} models, but not the one asked for, which it serves all the same"
        )

    def offer(self) -> str:
        """Say what the server offers, for a person who asked for what it has not."""
        if not self.listed:
            return "The server lists no models."
        shown = ", ".join(map(_printable, self.names[:_SHOWN_MODELS]))
        more = f" and {len(self.names) - _SHOWN_MODELS} more" if len(self.names) > _SHOWN_MODELS else ""
        return f"The server offers {len(self.names)}: {shown}{more}."

    def window(self, model: str, props: Seen) -> int | None:
        """Return the tokens of prompt and answer that the server takes, or None when it does not say.

        Args:
            model: the one asked for.
            props: the reply to `GET /props`, which llama.cpp's server has.
        """
        settings = _map(props.reply.get("default_generation_settings")) if props.status == 200 else {}
        served = (_of(self.windows, model), token_count(settings.get("n_ctx")))
        known = [tokens for tokens in served if tokens]
        return min(known) if known else _of(self.trained, model)

    def knows_as(self, model: str, named: str) -> bool:
        """Tell whether the list gives the model this other name."""
        return any(same_model(other, named) for other in self.also_named.get(model, ()))


def _whole(
    named: Mapping[str, Mapping[str, object]], value: Callable[[Mapping[str, object]], object]
) -> dict[str, int]:
    found = ((name, token_count(value(entry))) for name, entry in named.items())
    return {name: tokens for name, tokens in found if tokens}


def _of(windows: Mapping[str, int], model: str) -> int | None:
    """Return the model's own value, or that of the only model there is, whose name the server may not insist on."""
    return windows.get(model) or (next(iter(windows.values())) if len(windows) == 1 else None)


def _map(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _other_names(entry: Mapping[str, object]) -> tuple[str, ...]:
    """Read what vLLM (root) and llama.cpp (aliases) say a listed model is called besides."""
    aliases = entry.get("aliases")
    others = [entry.get("root"), *(aliases if isinstance(aliases, list) else [])]
    return tuple(other for other in others if isinstance(other, str) and other)


def _printable(name: str) -> str:
    """Cut a name that a server wrote to what may stand in a message."""
    return "".join(filter(str.isprintable, name[: 2 * _SHOWN_CHARACTERS]))[:_SHOWN_CHARACTERS]


def own_defaults(server: str) -> tuple[Mapping[str, str | int | float | bool], tuple[str, ...]]:
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
