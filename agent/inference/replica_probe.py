"""Probe every replica of a deployment, and combine what they honour. Addresses of replicas are for display only."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, cast

from agent.errors import InferenceError
from agent.inference.capabilities import Capabilities, Feature, FeatureName, Needs, State
from agent.inference.endpoint import Endpoint, describe_address, describe_server
from agent.inference.limits import HttpLimits
from agent.inference.probe import EVERY_WAY, probe

_OTHER_WINDOWS = "The replicas have different context lengths"
# From best to worst. Replicas together honour only what each of them honours.
_FROM_BEST: tuple[State, ...] = ("honoured", "unknown", "ignored", "refused")


@dataclass(frozen=True, slots=True)
class _Probed:
    """What one replica's probe found, or why it cannot be used."""

    url: str
    capabilities: Capabilities | None
    error: InferenceError | None = None


async def probe_deployment(
    deployment: Endpoint, limits: HttpLimits, needs: Needs = EVERY_WAY
) -> Capabilities:
    """Probe the deployment's server, or all of its replicas at the same time; see `probe`.

    A replica that cannot be used, or that needs other requests than the first usable one, is left out
    (`Capabilities.left_out`). One without a usable reply may only be starting, so it is probed again later
    (`Capabilities.tried_again`). The context length is the smallest, and a feature counts as honoured only if all
    replicas honour it.

    Args:
        deployment: the servers and their model.
        limits: limits of time and retries.
        needs: what the runs need; by default, everything that can be probed.

    Raises:
        InferenceError: no server can be used.
        ConfigError: an address, token file, tokenizer file, proxy or CA bundle cannot be used.
    """
    if not deployment.replicas:
        return await probe(deployment, limits, needs)
    probes = [_probe_url(deployment, url, limits, needs) for url in deployment.replicas]
    probed = await asyncio.gather(*probes)
    return _combine(deployment, probed)


async def find_misfit(
    deployment: Endpoint, url: str, limits: HttpLimits, capabilities: Capabilities
) -> str | None:
    """Probe a replica that was left out, and return why it still cannot be asked.

    Args:
        deployment: the servers and their model.
        url: the replica's address.
        limits: limits of time and retries.
        capabilities: what the replicas in use honour together; the requests were made for it.

    Returns:
        "" if the replica can be asked like the others; None if it cannot be probed, so that it may be tried again.

    Raises:
        ConfigError: its address, token file, proxy or CA bundle cannot be used.
    """
    probed = await _probe_url(deployment, url, limits, EVERY_WAY)
    found = probed.capabilities
    if found is None or _count_unknown(found) > _count_unknown(capabilities):
        return None
    return _find_difference(capabilities, found) or _find_lack(capabilities, found)


async def _probe_url(deployment: Endpoint, url: str, limits: HttpLimits, needs: Needs) -> _Probed:
    # Every implementation of Endpoint is a dataclass; the copy has this replica's address.
    replica: Endpoint = replace(cast("Any", deployment), base_url=url)
    try:
        return _Probed(url, await probe(replica, limits, needs))
    except InferenceError as error:
        return _Probed(url, None, error)


def _combine(deployment: Endpoint, probed: Sequence[_Probed]) -> Capabilities:
    """Return the common capabilities of the usable replicas, with the others as `left_out`."""
    first: Capabilities | None = None
    usable: list[Capabilities] = []
    left_out: dict[str, str] = {}
    failed: list[str] = []
    for replica in probed:
        found = replica.capabilities
        if found is None:
            left_out[replica.url] = _describe_error(deployment, replica)
            failed.append(replica.url)
            continue
        first = first or found
        difference = _find_difference(first, found)
        if difference:
            left_out[replica.url] = difference
        else:
            usable.append(found)
    if first is None:
        _refuse(deployment, probed, left_out)
    return replace(
        first,
        features=_combine_features(usable),
        notes=_combine_notes(usable),
        inline_thoughts=any(found.inline_thoughts for found in usable),
        other_names=tuple(sorted({name for found in usable for name in found.other_names})),
        window=min((found.window for found in usable if found.window), default=None),
        template_tokens=max(found.template_tokens for found in usable),
        left_out=left_out,
        tried_again=frozenset(failed),
    )


def _find_difference(first: Capabilities, found: Capabilities) -> str:
    """Return why a replica cannot be asked in the same way as the first usable one; "" if it can."""
    if found.server != first.server:
        return f"is {found.server}, but the first usable replica is {first.server}"
    if found.language_model != first.language_model:
        return "serves another kind of model than the first usable replica"
    asked_first = (first.token_limit_field, first.choice_field, first.counting, first.served_as)
    asked_here = (found.token_limit_field, found.choice_field, found.counting, found.served_as)
    if asked_first != asked_here:
        return "honours other fields or another name of the model than the first usable replica"
    return ""


def _count_unknown(capabilities: Capabilities) -> int:
    """Return the number of probed features without a finding; a server that has just been started may show some."""
    return sum(feature.state == "unknown" for feature in capabilities.features.values())


def _find_lack(together: Capabilities, found: Capabilities) -> str:
    """Return what a replica lacks of the capabilities for which requests were made; "" if nothing."""
    if together.window and found.window and found.window < together.window:
        return f"has a shorter context ({found.window} tokens) than the other replicas"
    for name, feature in together.features.items():
        state = found.state(name)
        if _FROM_BEST.index(state) > _FROM_BEST.index(feature.state):
            return f"does not honour {name} as the other replicas do"
    thinks_otherwise = found.inline_thoughts != together.inline_thoughts
    if thinks_otherwise or not set(found.other_names) <= set(together.other_names):
        return "replies in another form than the other replicas"
    return ""


def _combine_features(usable: Sequence[Capabilities]) -> Mapping[FeatureName, Feature]:
    """Return each feature as the replica honours it that honours it least."""
    features = dict(usable[0].features)
    for found in usable[1:]:
        for name, feature in found.features.items():
            best_known = features.get(name, feature)
            if _FROM_BEST.index(feature.state) > _FROM_BEST.index(best_known.state):
                features[name] = feature
    return features


def _combine_notes(usable: Sequence[Capabilities]) -> tuple[str, ...]:
    notes = [note for found in usable for note in found.notes]
    windows = sorted({found.window for found in usable if found.window})
    if len(windows) > 1:
        lengths = ", ".join(map(str, windows))
        notes.append(f"{_OTHER_WINDOWS} ({lengths} tokens); the smallest is used.")
    return tuple(dict.fromkeys(notes))


def describe_problems(deployment: Endpoint, capabilities: Capabilities) -> list[str]:
    """Return a sentence about each replica that is not asked, with its address, and about different context lengths."""
    problems: list[str] = []
    for url, reason in capabilities.left_out.items():
        treatment = "left out"
        if url in capabilities.tried_again:
            treatment = "left out until it answers"
        problems.append(f"{describe_server(deployment, url)} {reason}; it is {treatment}")
    for note in capabilities.notes:
        if note.startswith(_OTHER_WINDOWS):
            problems.append(f"deployment {deployment.name}: {note}")
    return problems


def _describe_error(deployment: Endpoint, replica: _Probed) -> str:
    """Return what is wrong with a replica, without its name."""
    return str(replica.error).removeprefix(f"{describe_server(deployment, replica.url)} ")


def _refuse(
    deployment: Endpoint, probed: Sequence[_Probed], left_out: Mapping[str, str]
) -> NoReturn:
    """Raise an error that names every replica and its problem."""
    problems = "; ".join(f"{describe_address(url)} {reason}" for url, reason in left_out.items())
    error = probed[0].error
    raise InferenceError(
        f"deployment {deployment.name}: none of its {len(probed)} replicas can be used: {problems}",
        error.advice if error else None,
    )
