"""The checks of `intramural doctor`, each with a finding and advice. They change nothing."""

import ipaddress
import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agent.catalog.benchmark import Benchmark, survey_benchmarks
from agent.catalog.deployments import read_deployments
from agent.catalog.judges import read_jury
from agent.cli.checks import Check, run_check
from agent.cli.doctor_access import check_access
from agent.cli.doctor_alerts import check_alerts
from agent.cli.doctor_machine import check_machine
from agent.cli.doctor_network import check_site_network
from agent.cli.doctor_servers import check_servers
from agent.datasets.manage.check import read_data
from agent.datasets.manage.register import check_data
from agent.io.wording import format_count
from agent.judging.judge_run import select_jury_measures
from agent.judging.jury_selection import (
    describe_equal_judges,
    describe_own_judge,
    is_on_own_jury,
    seat_judges,
)
from agent.jury.seats import compute_quorum
from agent.keys import KeyRole, load_signer, read_data_key, read_seal_key
from agent.metrics import MetricUse
from agent.scoring.measures import Rules
from agent.site.directory import Site
from agent.store import Run
from agent.vocabulary import Unscored

if TYPE_CHECKING:
    from agent.own_metrics.source import MetricSource


MIN_SEATS = (
    2  # minimum seats of a jury, since a single judge's grades cannot be compared with another's
)
IDENTIFIERS = ("Margarethe Oberhuber-Quill", "555-867-5309", "MRN 4471982", "03/14/1951")
_SAMPLE_ONLY = "{count} have only their sample, real or invented (see `intramural datasets list`)"
_DATA_READY = "the data of {count} is ready (see `intramural datasets list`)"
SPECIMEN = "Patient name: {}, phone {}, {}, born {}, was seen for chest pain.".format(*IDENTIFIERS)


def examine(site: Site, server: str | None = None, model: str | None = None) -> Iterator[Check]:
    """Run all checks, each after the checks that it depends on. A fault of the store is reported once.

    Args:
        site: the site directory; it may be broken.
        server: check this server instead of those in model_deployments.yaml.
        model: the model to request from `server`.
    """
    fault_of_store = ""
    for check in _run_checks(site, server, model):
        if fault_of_store and check.verdict == "failed" and check.finding == fault_of_store:
            continue  # it could not be made without the store
        if check.subject == "store" and check.verdict == "failed":
            fault_of_store = check.finding
        yield check


def _run_checks(site: Site, server: str | None, model: str | None) -> Iterator[Check]:
    settings = run_check("settings", lambda: _check_settings(site))
    yield settings
    if settings.verdict == "failed":
        yield from _list_digests(site)
        return  # the other checks need the settings
    yield run_check("environment", lambda: _check_environment(site))
    yield run_check("site directory", lambda: _check_directory(site))
    yield run_check("data key", lambda: _check_data_key(site))
    yield run_check("seal key", lambda: _check_seal_key(site))
    yield run_check("agent key", lambda: _check_agent_key(site))
    yield run_check("store", lambda: _check_store(site))
    yield from check_machine(site)
    yield from _check_benchmarks(site)
    yield run_check("redaction", lambda: _check_redaction(site))
    if site.settings.bertscore_model is not None:
        yield run_check("BERTScore", lambda: _check_bertscore(site))
    yield from _check_own_metrics(site)
    yield run_check("disclosure policy", lambda: _check_disclosure(site))
    yield run_check("approval", lambda: _check_approval(site))
    yield run_check("outgoing", lambda: _check_outgoing(site))
    if site.settings.aggregator_url is not None:
        yield run_check("aggregator", lambda: _check_aggregator(site.settings.aggregator_url or ""))
    yield from check_site_network(site)
    yield from check_access(site)
    yield from check_alerts(site)
    yield from check_servers(site, server, model)
    if server is None:
        yield run_check("jury", lambda: _check_jury(site))


def _check_settings(site: Site) -> Check:
    return Check(
        "settings", "ok", f"site.yaml is readable and every setting is known ({site.name})"
    )


def _check_environment(site: Site) -> Check:
    from agent.site.environment import find_variable, list_unknown
    from agent.site.settings import Settings

    del site
    unknown = list(list_unknown(Settings.model_fields, os.environ))
    if unknown:
        return Check(
            "environment",
            "warning",
            f"no setting belongs to {', '.join(unknown)}",
            "Correct the variable's name; docs/settings.md lists them.",
        )
    given = [find_variable(name) for name in Settings.model_fields]
    shown = ", ".join(variable for variable in given if variable)
    return Check("environment", "ok", f"gives settings: {shown}" if shown else "gives no setting")


def _check_directory(site: Site) -> Check:
    mode = site.directory.stat().st_mode & 0o777
    if mode & 0o077:
        return Check(
            "site directory",
            "warning",
            f"other accounts may enter it (mode {mode:o})",
            "chmod 700 the site directory.",
        )
    return Check("site directory", "ok", "only its owner may enter it")


def _check_data_key(site: Site) -> Check:
    read_data_key(site.keys / "data.key")
    return Check("data key", "ok", "present, and only its owner may read it")


def _check_seal_key(site: Site) -> Check:
    read_seal_key(site.keys / "seal.key")
    return Check("seal key", "ok", "present, and only its owner may read it")


def _check_agent_key(site: Site) -> Check:
    signer = load_signer(site.keys / "agent.key", KeyRole.AGENT)
    return Check(
        "agent key",
        "ok",
        f"present, and only its owner may read it; fingerprint {signer.public.keyid[:16]}",
    )


def _check_store(site: Site) -> Check:
    with site.store() as store:
        entries = len(store.audit.read_events())
        suites = len(store.runs.list_suites())
    return Check(
        "store",
        "ok",
        f"can be decrypted with the data key; {format_count(suites, 'suite')}, "
        f"{format_count(entries, 'event')} in the audit log, none changed",
    )


def _check_benchmarks(site: Site) -> Iterator[Check]:
    benchmarks, broken = survey_benchmarks(site.own_benchmarks)
    for benchmark in benchmarks.values():
        subject = f"benchmark {benchmark.id}"
        check = run_check(subject, partial(_check_dataset, subject, site, benchmark))
        yield replace(check, kind="benchmarks")
    for benchmark_file in broken:
        name = benchmark_file.names[0] if benchmark_file.names else benchmark_file.path.name
        error = benchmark_file.error
        yield Check(
            f"benchmark {name}",
            "failed",
            str(error),
            error.advice,
            error.exit_code,
            kind="benchmarks",
        )


def _check_dataset(subject: str, site: Site, benchmark: Benchmark) -> Check:
    """Report the same state as `datasets list`; if the data was never read before, read it and report its problems."""
    state = check_data(benchmark, site.data)
    if state.state == "sample only":
        return Check(subject, "ok", f"sample only: {state.detail}", summary=_SAMPLE_ONLY)
    if state.state != "ready":
        return Check(
            subject,
            "warning",
            f"data {state.state}: {state.detail}",
            "Correct the data before running the benchmark.",
        )
    if state.instances is not None:
        finding = f"{state.detail}, {state.instances} instances"
        return Check(subject, "ok", finding, summary=_DATA_READY)
    data = read_data(benchmark, site.data)
    finding = f"{state.detail}; {data.instances} instances read now, no problem found"
    if benchmark.dataset_file or not data.problems:
        return Check(subject, "ok", finding, summary=_DATA_READY)
    return Check(
        subject,
        "warning",
        "; ".join((finding, *data.problems)),
        f"Add it with `intramural datasets add {benchmark.id} PATH --replace`, so that later changes are noticed.",
    )


def _check_redaction(site: Site) -> Check:
    from agent.redaction import open_redactor

    redactor = open_redactor(site.settings.redaction_policy, site.directory)
    shown = redactor.redact(SPECIMEN)
    missed = sum(identifier in shown for identifier in IDENTIFIERS)
    if missed:
        return Check(
            "redaction",
            "failed",
            f"{missed} of {len(IDENTIFIERS)} planted identifiers were missed",
            "Choose another redaction_policy in site.yaml. Do not show texts to anyone until this is repaired.",
            5,
        )
    return Check(
        "redaction", "ok", f"engine ready ({redactor.policy}); planted identifiers were removed"
    )


def _check_bertscore(site: Site) -> Check:
    from agent.metrics import Means, bert_score

    encoder = bert_score.check("this site", site.means)
    probe_of = bert_score.BertScoreComparison("chest pain", ("chest pain",), "intramural")
    (figures,) = bert_score.triples([probe_of], Means(encoder.folder, encoder.layer))
    if isinstance(figures, Unscored) or abs(figures[2] - 1) > 1e-3:
        return Check(
            "BERTScore",
            "failed",
            "the encoder does not find a text similar to itself",
            "Copy the encoder's folder again.",
            2,
        )
    return Check(
        "BERTScore",
        "ok",
        f"encoder ready ({encoder.family}, layer {encoder.layer} of {encoder.layers}, sha256 {encoder.digest[:16]})",
    )


def _check_own_metrics(site: Site) -> Iterator[Check]:
    """Load the site's own metrics, and report the files of its folder that are not enabled."""
    enabled = set()
    for source in site.own_metrics:
        enabled.add(source.file)
        yield run_check(f"own metric {source.name}", partial(_check_own_metric, source))
    files = sorted(site.plugins.glob("*.py"))
    for file in files:
        if file not in enabled:
            yield run_check(f"own metric {file.stem}", partial(_describe_idle_file, file))


def _list_digests(site: Site) -> Iterator[Check]:
    """Report the digests of the own metrics, which the settings need, although the settings cannot be read."""
    for file in sorted(site.plugins.glob("*.py")):
        yield run_check(f"own metric {file.stem}", partial(_describe_digest, file))


def _describe_digest(file: Path) -> Check:
    from agent.own_metrics.source import MetricSource, read_code

    shown = f"{file.parent.name}/{file.name}"
    code = read_code(MetricSource(file.stem, "", file, shown))
    return Check(f"own metric {file.stem}", "ok", f"{shown} has sha256 {code.sha256}")


def _check_own_metric(source: "MetricSource") -> Check:
    from agent.own_metrics.process import declare
    from agent.own_metrics.source import read_approved_code

    declared = declare(read_approved_code(source))
    finding = (
        f"{declared.display_name}, {declared.low} to {declared.high}; {source.shown}, sha256 "
        f"{declared.sha256}"
    )
    return Check(f"own metric {source.name}", "ok", finding)


def _describe_idle_file(file: Path) -> Check:
    from agent.own_metrics.source import MetricSource, read_code

    shown = f"{file.parent.name}/{file.name}"
    code = read_code(MetricSource(file.stem, "", file, shown))
    finding = f"{shown} is not enabled, so it never runs; its sha256 is {code.sha256}"
    return Check(f"own metric {file.stem}", "ok", finding)


def _check_disclosure(site: Site) -> Check:
    from agent.disclosure.policy import read_policy

    policy = read_policy(site.settings.disclosure_policy, site.directory)
    return Check(
        "disclosure policy",
        "ok",
        f"{policy.name} {policy.version}: at least {policy.min_units} units behind a published cell of private data",
    )


def _check_approval(site: Site) -> Check:
    if site.settings.unsafe_one_account_approval:
        with site.store() as store:
            has_people = bool(store.accounts.read_all())
        finding = "one person can author and approve a submission (unsafe_one_account_approval in site.yaml)"
        if has_people:
            return Check(
                "approval",
                "failed",
                f"{finding}, though people have accounts here, none of whom may do both on the pages",
                "Remove that setting. The steward approves on another computer.",
            )
        return Check(
            "approval",
            "warning",
            finding,
            "Remove that setting except in trials. The steward should approve on another computer.",
        )
    return Check(
        "approval",
        "ok",
        "by a second person: a steward's key that this site's account can read is refused",
    )


def _check_aggregator(url: str) -> Check:
    from agent.delivery.transport import check_aggregator_url

    return Check("aggregator", "ok", f"its address has the right form: {check_aggregator_url(url)}")


def _check_outgoing(site: Site) -> Check:
    """Report all addresses that the agent can reach: those in the settings and in the invite."""
    from agent.alerts.channels import read_plan
    from agent.alerts.standing import describe_receivers

    outside = [host for host in site.settings.allowed_hosts if not _is_inside(host)]
    aggregator = _aggregator_url(site)
    way = " through the proxy of site.yaml" if site.settings.proxy else ""
    finding = (
        f"submissions go to {urlsplit(aggregator).hostname}{way}"
        if aggregator
        else "submissions leave as files only"
    )
    receivers = describe_receivers(read_plan(site.settings))
    if receivers:
        finding += f"; alerts, which are codes and counts, go to {receivers}"
    judges = len(site.settings.outside_judge_hosts)
    if judges:
        finding += f"; redacted text may be sent to judges on {judges} external hosts"
    if outside:
        return Check(
            "outgoing",
            "warning",
            f"prompts may be sent to {len(outside)} hosts that are not private addresses; {finding}",
            "Make sure that every host in allowed_hosts is inside the hospital's network.",
        )
    return Check(
        "outgoing",
        "ok",
        f"prompts go to allowed_hosts only, never through a proxy of the site; {finding}",
    )


def _aggregator_url(site: Site) -> str:
    """Return the address that `submission send` would use, from site.yaml or else from the invite; "" if neither."""
    from agent.delivery.membership import Federation

    if site.settings.aggregator_url or not (site.submissions / "membership.json").exists():
        return site.settings.aggregator_url or ""
    return Federation(site.submissions).read_membership().url


def _is_inside(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return address.is_private or address.is_loopback


def _check_jury(site: Site) -> Check:
    """Report on the site's jury; its servers are checked with the other deployments."""
    if not site.judges.is_file():
        return Check(
            "jury",
            "ok",
            "none; answers in free text are judged only if a run or a benchmark names judges",
        )
    jury = read_jury(site.judges)
    deployments = read_deployments(site.deployments)
    # A server that the agent starts need not run now; it is checked with the deployments.
    managed = [name for name, deployment in deployments.items() if deployment.managed is not None]
    seats = seat_judges(jury.judges, site, deployments, resting=managed)
    quorum = compute_quorum(MetricUse("jury_score", judges=jury.judges, quorum=jury.quorum))
    outside = sum(seat.outside for seat in seats)
    sent = f"; {outside} of them are external and get redacted text only" if outside else ""
    names = ", ".join(dict.fromkeys(seat.label for seat in seats))
    finding = f"{len(seats)} seats ({names}), of which {quorum} must give a valid verdict{sent}"
    with site.store() as store:
        judged = {run.deployment for run in store.runs.select() if _has_jury(run)}
    own = [name for name in sorted(judged) if is_on_own_jury(name, seats)]
    problems = {
        f"Correct {site.judges.name}.": describe_equal_judges(jury.judges, deployments),
        "For that model's runs, name a jury without the model with --judges.": [
            describe_own_judge(name) for name in own
        ],
    }
    advice = [each for each, sentences in problems.items() if sentences]
    if advice:
        sentences = "; ".join(sentence for each in advice for sentence in problems[each])
        return Check("jury", "warning", f"{finding}; {sentences}", " ".join(advice))
    if len(seats) < MIN_SEATS:
        return Check(
            "jury", "warning", finding, "Name at least three judges of different families."
        )
    return Check("jury", "ok", finding)


def _has_jury(run: Run) -> bool:
    return not run.imported and bool(select_jury_measures(Rules.of_run(run.details)))
