"""Choose the jury of a run, and find the server of each judge.

Every fault of a jury is reported here, before the first question is asked.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from agent.catalog.deployment_map import map_name
from agent.catalog.deployments import Deployment
from agent.catalog.judges import Jury, read_jury
from agent.errors import ConfigError, InferenceError
from agent.inference.endpoint import identify_server, list_addresses
from agent.io.wording import format_count, nearest
from agent.jury.seats import describe_equal_seats, describe_sampling
from agent.metrics import JUDGED, Judge, MetricUse
from agent.model_servers.start import resolve_managed
from agent.site.directory import Site

# Equal for seats whose judge gets the same requests: deployment, served model, seed and temperature.
JudgeKey = tuple[str, str, int | None, float]

_NO_JUDGES = "Add it to model_deployments.yaml, or choose another jury with --judges FILE."
_LATER = "Or use `run --no-judging`, and have the answers judged later with `intramural judge`."


@contextmanager
def advise_judging_later() -> Iterator[None]:
    """If a jury cannot be asked, add advice that the run is possible without judging."""
    try:
        yield
    except (ConfigError, InferenceError) as error:
        raise type(error)(str(error), f"{error.advice} {_LATER}") from None


@dataclass(frozen=True, slots=True)
class SeatedJudge:
    """One seat of a jury, with the server of its judge.

    Attributes:
        judge: the judge in this seat.
        deployment: the deployment that serves the judge.
        max_in_flight: maximum concurrent requests to its server, shared by all judges on that server.
        outside: whether the judge is outside the hospital's network, so that it is sent only redacted text.
    """

    judge: Judge
    deployment: Deployment
    max_in_flight: int
    outside: bool = False

    @property
    def identity(self) -> JudgeKey:
        """The key under which this seat shares its judge's requests and replies with others."""
        judge = self.judge
        return (*identify_server(self.deployment), judge.seed, judge.temperature)

    @property
    def label(self) -> str:
        """The deployment's name, with the seed and the temperature if the seat sets them."""
        sampling = describe_sampling(self.judge)
        return f"{self.deployment.name} ({sampling})" if sampling else self.deployment.name


def choose_jury(
    use: MetricUse,
    site: Site,
    benchmark: str,
    *,
    override: Path | None = None,
    named: str | None = None,
    required: bool = True,
) -> MetricUse:
    """Return the metric with the judges that grade this run.

    These are the judges of the command line, or else of the run entry, the benchmark or the site, in this order.
    Without any of them, the metric has no judges and nothing is judged.

    The quorum is the stricter of the ones that the benchmark and the jury's file set.

    Args:
        use: a metric as its benchmark defines it; returned unchanged unless a jury scores it.
        site: the site, which may have a `judges.yaml`.
        benchmark: the metric's benchmark, for messages.
        override: the file given on the command line.
        named: the file named in the run entry (`jury_config_path`).
        required: whether that file must exist.

    Raises:
        ConfigError: a file of judges is missing or wrong, or the benchmark requires more seats than the jury has.
    """
    if use.name not in JUDGED:
        return use
    path = override or (Path(named) if named else None)
    if path is None and not use.judges and site.judges.is_file():
        path = site.judges
    if path is not None and (required or path.is_file()):
        jury = read_jury(path)
        if use.quorum is not None and use.quorum > len(jury.judges):
            raise ConfigError(
                f"{benchmark} requires {format_count(use.quorum, 'valid verdict')}, and the jury of {path.name} has "
                f"{format_count(len(jury.judges), 'seat')}",
                "Add judges, or lower the quorum in the benchmark's definition.",
            )
        use = replace(use, judges=jury.judges, quorum=choose_quorum(use, jury))
    return use


def choose_quorum(use: MetricUse, jury: Jury) -> int | None:
    """Return the stricter of the quorums that metric and jury set; None, for more than half, if neither sets one."""
    return max((quorum for quorum in (use.quorum, jury.quorum) if quorum is not None), default=None)


def map_jury(
    use: MetricUse, mapping: Mapping[str, str], deployments: Mapping[str, Deployment]
) -> MetricUse:
    """Replace the deployments named by judges with deployments of this site, as a deployment map defines.

    Raises:
        ConfigError: the map names a deployment that does not exist here.
    """
    return replace(
        use, judges=tuple(_map_judge(judge, mapping, deployments) for judge in use.judges)
    )


def _map_judge(
    judge: Judge, mapping: Mapping[str, str], deployments: Mapping[str, Deployment]
) -> Judge:
    mapped = map_name(judge.model_deployment or judge.model_name, mapping)
    if mapped is None:
        return judge
    _, name = mapped
    if name not in deployments:
        raise ConfigError(
            f"the deployment map assigns the judge {judge.name or judge.model_name} to {name}, which is not in "
            f"model_deployments.yaml{nearest(name, deployments)}"
        )
    return replace(judge, model_deployment=name, model_name=deployments[name].model_name, name="")


def seat_judges(
    judges: Sequence[Judge],
    site: Site,
    deployments: Mapping[str, Deployment],
    max_in_flight: int | None = None,
    *,
    resting: Collection[str] = (),
) -> tuple[SeatedJudge, ...]:
    """Find the server of every judge.

    Args:
        judges: the judges of one jury, in order.
        site: the site, which defines the hosts that may be asked.
        deployments: the deployments in model_deployments.yaml.
        max_in_flight: maximum concurrent requests per server; None for the deployment's or the site's limit.
        resting: deployments that are not asked now, so the servers that the agent starts for them need not run.

    Raises:
        ConfigError: a deployment does not exist or cannot be used here, or text may not be sent to its host.
    """
    seats: list[SeatedJudge] = []
    for judge in judges:
        deployment = find_judge_deployment(judge, deployments)
        if deployment.name not in resting:
            deployment = resolve_managed(deployment, site)
        seats.append(_seat_judge(judge, deployment, site, max_in_flight))
    return tuple(seats)


def _seat_judge(
    judge: Judge, deployment: Deployment, site: Site, max_in_flight: int | None
) -> SeatedJudge:
    settings = site.settings
    is_managed = deployment.managed is not None  # and so on this machine
    outside = not is_managed and any(
        _get_host(url) not in settings.allowed_hosts for url in list_addresses(deployment)
    )
    if outside:
        _refuse_unless_allowed(deployment, site)
    if deployment.proxy and _get_host(deployment.proxy) not in settings.allowed_hosts:
        raise ConfigError(
            f"judge {deployment.name}: answers may not be sent through the proxy that its deployment names",
            "Add the proxy's host to allowed_hosts in site.yaml, if it is inside the hospital's network.",
        )
    at_once = max_in_flight or deployment.max_in_flight or settings.max_in_flight
    deployment = replace(deployment, ca_bundle=deployment.ca_bundle or settings.ca_bundle)
    return SeatedJudge(judge, deployment, at_once, outside)


def find_judge_deployment(judge: Judge, deployments: Mapping[str, Deployment]) -> Deployment:
    """Return the deployment that serves a judge.

    Raises:
        ConfigError: it does not exist or cannot be used.
    """
    name = judge.model_deployment
    if name:
        deployment = deployments.get(name)
        if deployment is None:
            raise ConfigError(
                f"the jury names the deployment {name!r}, which is not in model_deployments.yaml"
                f"{nearest(name, deployments)}",
                _NO_JUDGES,
            )
        if judge.model_name and judge.model_name != deployment.model_name:
            raise ConfigError(
                f"the deployment {name!r} serves {deployment.model_name!r}, "
                f"but according to the jury it serves {judge.model_name!r}",
                "Correct the judge's model or deployment.",
            )
    else:
        deployment = _find_usable_deployment(judge.model_name, deployments)
        if deployment is None:
            raise ConfigError(
                f"no deployment in model_deployments.yaml serves the judge {judge.model_name!r}",
                _NO_JUDGES,
            )
    if deployment.problem:
        raise ConfigError(
            f"the judge's deployment {deployment.name!r} cannot be used: {deployment.problem}",
            _NO_JUDGES,
        )
    return deployment


def describe_equal_judges(
    judges: Sequence[Judge], deployments: Mapping[str, Deployment]
) -> list[str]:
    """Return a warning for each model of a server of which several seats always give the same verdict.

    Seats are compared by their server and its model, because several deployments may name the same ones.
    """
    compared: list[Judge] = []
    first_names: dict[object, str] = {}
    for judge in judges:
        try:
            deployment = find_judge_deployment(judge, deployments)
        except ConfigError:
            compared.append(judge)  # a stored jury may name deployments that were removed since
            continue
        name = first_names.setdefault(_identify_model(deployment), deployment.name)
        compared.append(replace(judge, model_deployment=name))
    return describe_equal_seats(compared)


def _identify_model(deployment: Deployment) -> object:
    """Return a key that is equal for deployments of one model on one server."""
    if deployment.managed is not None:
        return deployment.managed.weights
    return list_addresses(deployment), deployment.served_model


def _find_usable_deployment(model: str, deployments: Mapping[str, Deployment]) -> Deployment | None:
    for deployment in deployments.values():
        if deployment.model_name == model and not deployment.deprecated and not deployment.problem:
            return deployment
    return None


def _refuse_unless_allowed(deployment: Deployment, site: Site) -> None:
    """Raise ConfigError unless both the redaction policy and the settings allow a judge outside."""
    from agent.redaction.policy.policy import load_policy

    policy = load_policy(site.settings.redaction_policy, site.directory)
    missing = []
    if not policy.outside_judges:
        missing.append("`outside_judges: true` in the redaction policy")
    allowed = (*site.settings.allowed_hosts, *site.settings.outside_judge_hosts)
    if any(_get_host(url) not in allowed for url in list_addresses(deployment)):
        missing.append("its host in outside_judge_hosts of site.yaml")
    if missing:
        raise ConfigError(
            f"judge {deployment.name}: answers may not be sent to the host in its address",
            "Add the host to allowed_hosts in site.yaml, if it is inside the hospital's network. An outside judge "
            f"is sent only redacted text, and needs {' and '.join(missing)}.",
        )


def is_on_own_jury(deployment: str, jury: Sequence[SeatedJudge]) -> bool:
    """Return whether a deployment is on the jury that judges its own answers."""
    return any(judge.deployment.name == deployment for judge in jury)


def describe_own_judge(deployment: str) -> str:
    """Return a note that a deployment is on the jury that judges its own answers."""
    return f"a model judges itself: {deployment} is on the jury for its own answers"


def _get_host(address: str) -> str:
    return urlsplit(address).hostname or ""
