"""Changes to the registered models, scorecards, policies and agent versions. `versions.sign_next` signs them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from aggregator.errors import RegistryError, SettingsError
from aggregator.registry.scorecards import shipped_scorecards
from aggregator.small_file import read_small
from aggregator.strict_yaml import read_yaml
from protocol import canonical
from protocol.errors import ProtocolError
from protocol.identity import agent_digest, model_digest
from protocol.policy import DisclosurePolicy
from protocol.registry import Model, RegisteredScorecard, Registry
from protocol.scorecard import Scorecard, parse_scorecard


@dataclass(frozen=True, slots=True)
class Additions:
    """The additions of one new registry version. An item that is already registered unchanged is not an addition."""

    models: Sequence[Model] = ()
    scorecards: Sequence[Scorecard] = ()
    retired: Sequence[str] = ()  # scorecards to retire, as `name` or `name@version`
    agents: Sequence[str] = ()  # versions
    policies: Sequence[DisclosurePolicy] = ()


def apply(registry: Registry, additions: Additions) -> Registry:
    """Return the registry with `additions` and the same version number; the same object if nothing is new.

    Raises:
        RegistryError: a scorecard or policy is registered with the same name and version but different content, or a
            scorecard to retire is unknown.
    """
    scorecards = dict(registry.scorecards)
    for card in additions.scorecards:
        _refuse_other_content("scorecard", card, (known.scorecard for known in scorecards.values()))
        scorecards.setdefault(card.digest, RegisteredScorecard(card))
    for wanted in additions.retired:
        matching = [
            digest
            for digest, known in scorecards.items()
            if wanted in {known.scorecard.name, f"{known.scorecard.name}@{known.scorecard.version}"}
        ]
        if not matching:
            raise RegistryError(
                f"there is no scorecard {wanted!r} to retire",
                "`list scorecards` shows every scorecard.",
            )
        scorecards.update(
            {digest: replace(scorecards[digest], retired=True) for digest in matching}
        )
    for policy in additions.policies:
        _refuse_other_content("policy", policy, registry.policies.values())
    after = replace(
        registry,
        models={
            **registry.models,
            **{model_digest(model.name): model for model in additions.models},
        },
        scorecards=scorecards,
        agents={
            **registry.agents,
            **{agent_digest(version): version for version in additions.agents},
        },
        policies={**registry.policies, **{policy.digest: policy for policy in additions.policies}},
    )
    return registry if after == registry else after


def _refuse_other_content(kind: str, new: Any, known: Any) -> None:
    for old in known:
        if (old.name, old.version) == (new.name, new.version) and old.digest != new.digest:
            raise RegistryError(
                f"{kind} {new.name} version {new.version} is registered with different content",
                "The content of a version never changes. Use a higher version number.",
            )


class _ModelEntry(BaseModel):
    """One model of a `--models` file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str = Field(min_length=1)
    display_name: str = Field(min_length=1)
    organization: str = ""
    is_language_model: bool = True
    family: str = ""
    parameters_millions: int = Field(default=0, ge=0, le=10**9)

    def to_model(self) -> Model:
        """Return the model as the registry holds it."""
        return Model(**self.model_dump())


def read_models(path: Path) -> list[Model]:
    """Read a YAML list of models: name, display_name, and optionally the other fields of a registered model.

    Raises:
        SettingsError: the file cannot be read, a model is listed twice, or an entry lacks or misspells a key; the
            message lists all such faults with their lines.
    """
    file = read_yaml(path)
    try:
        entries = TypeAdapter(list[_ModelEntry]).validate_python(file.value)
    except ValidationError as error:
        raise file.refusal(error) from None
    names = [entry.name for entry in entries]
    for number, name in enumerate(names):
        if name in names[:number]:
            raise SettingsError(
                f"{file.name}: line {file.lines[number, 'name']}: {name} is listed twice"
            )
    return [entry.to_model() for entry in entries]


def read_scorecard(path: Path) -> Scorecard:
    """Read a scorecard from a JSON file, as strictly as in a registry.

    Args:
        path: path of the file, or name of a shipped scorecard, for example `medhelm-v1`.

    Raises:
        SettingsError: the file cannot be read or is not a scorecard.
    """
    shipped = shipped_scorecards()
    if str(path) in shipped:
        path = shipped[str(path)]
    elif not path.suffix and not path.exists():
        raise SettingsError(
            f"there is no scorecard {path.name!r}",
            f"Name a JSON file or a shipped scorecard: {', '.join(shipped)}.",
        )
    try:
        return parse_scorecard(canonical.parse(read_small(path)))
    except ProtocolError as error:
        raise SettingsError(f"{path.name} is not a scorecard: {error.detail}") from None
