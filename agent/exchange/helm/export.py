"""Export a suite's runs as HELM's run folders, which helm-summarize and helm-server read.

    DIR/runs/<suite>/<run>/run_spec.json, scenario.json, scenario_state.json, stats.json, per_instance_stats.json
    DIR/runs/<suite>/<run>/intramural.json   details that HELM's files cannot hold, see own_record.py
    DIR/model_metadata.yaml                  names of the models, for `helm-summarize --local-path DIR`
    DIR/schema_intramural.yaml               every benchmark and metric, for `helm-summarize --schema-path`

Every text is redacted. Only the numbers and settings that these modules name are written: no addresses, paths, dates or
request durations.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from agent.catalog.benchmark import Benchmark, survey_benchmarks
from agent.exchange.helm.own_record import (
    INSTANCES,
    RECORD,
    write_instance_record,
    write_run_record,
)
from agent.exchange.helm.run_spec import HelmSpec
from agent.exchange.helm.schema import describe_models, describe_schema
from agent.exchange.helm.state import write_request_state
from agent.exchange.helm.stats import RunStats
from agent.exchange.json_files import open_json_array, write_json
from agent.exchange.shown_names import ShownNames
from agent.io.progress import Progress
from agent.redaction.gateway.cases import ClearedCase, Clearer, open_clearer
from agent.redaction.gateway.judgements import read_seat_judgements
from agent.results.summarize import RunSummary, summarise_run
from agent.site.directory import Site
from agent.store import Run, Store
from agent.vocabulary import Response

PAGE = 200  # instances held in memory at a time; each page has one audit entry


def export_helm(
    site: Site, suite: str, folder: Path, *, reveal: bool, progress: Progress | None = None
) -> int:
    """Write every run of the suite under `folder`; return the number of instances written.

    Texts are redacted under the site's policy, and ids are replaced by keyed hashes. With `reveal`, both are written
    unchanged, and each page of instances is recorded in an audit entry. `folder` should come from
    `agent.io.new_folder`, so that a failure leaves no files behind.
    """
    progress = progress or Progress()
    catalogue, _ = survey_benchmarks(site.own_benchmarks)
    with site.store() as store:
        clearer = open_clearer(site, store, reveal=reveal, purpose="export")
        runs = store.runs.select(suite)
        progress.begin("instances", sum(store.answers.count_instances(run.run_id) for run in runs))
        written: list[tuple[HelmSpec, RunSummary]] = []
        names = ShownNames(store, reveal=reveal)
        folder_names: set[str] = set()
        count = 0
        for run in runs:
            summary = names.show_summary(summarise_run(store, run))
            deployment = _name_deployment(names, run, summary.run, reveal=reveal)
            spec = HelmSpec(summary.run, catalogue.get(run.benchmark), deployment)
            folder_name = _choose_free_name(spec.folder_name(), run.run_id, folder_names)
            folder_names.add(folder_name)
            target = folder / "runs" / suite / folder_name
            target.mkdir(parents=True, mode=0o700)
            count += _write_run(store, clearer, spec, summary, target, progress)
            written.append((spec, summary))
        progress.end()
    write_json(
        folder / "model_metadata.yaml",
        describe_models({summary.run.model for _, summary in written}),
    )
    write_json(folder / "schema_intramural.yaml", describe_schema(written))
    return count


def list_exported_names(store: Store, catalogue: Mapping[str, Benchmark], suite: str) -> set[str]:
    """Return the names of the folders in which `export_helm` writes the runs of a suite that were made at this site.

    Both the redacted and the revealed names are returned.
    """
    exported_names: set[str] = set()
    for reveal in (False, True):
        names = ShownNames(store, reveal=reveal)
        for run in store.runs.select(suite):
            if not run.imported:
                shown = names.show_run(run)
                deployment = _name_deployment(names, run, shown, reveal=reveal)
                spec = HelmSpec(shown, catalogue.get(run.benchmark), deployment)
                exported_names.add(spec.folder_name())
    return exported_names


def _write_run(
    store: Store,
    clearer: Clearer,
    spec: HelmSpec,
    summary: RunSummary,
    target: Path,
    progress: Progress,
) -> int:
    """Write the run's files into the new folder `target`; return the number of instances written."""
    run = summary.run
    stats = RunStats(spec.helm_names, spec.split)
    units: list[str | None] = []
    for row in store.scores.read_units(run.run_id, summary.main.metric):
        units.append(row.unit_key.hex()[:16] if run.details.unit_named else None)
    multiple_choice = _is_multiple_choice(store, run)
    adapter = spec.adapter_spec(multiple_choice=multiple_choice)
    count = 0
    with (
        open_json_array(target / "per_instance_stats.json") as per_instance,
        open_json_array(
            target / "scenario_state.json", "request_states", lambda: {"adapter_spec": adapter}
        ) as states,
        open_json_array(
            target / RECORD, INSTANCES, lambda: write_run_record(run, spec.helm_names)
        ) as records,
    ):
        for response, case in _read_cases(store, clearer, run):
            identity = case.key if case.id is None else case.id
            per_instance.add(
                {
                    "instance_id": identity,
                    "train_trial_index": 0,
                    "stats": stats.add(case, response),
                }
            )
            if case.prompt is not None:
                states.add(
                    write_request_state(
                        case, identity, spec.split, adapter, spec.group, spec.judges
                    )
                )
            records.add(write_instance_record(case, identity, units[case.position]))
            count += 1
            progress.advance()
    write_json(
        target / "run_spec.json", spec.run_spec(target.name, multiple_choice=multiple_choice)
    )
    write_json(target / "scenario.json", spec.scenario_json(clearer.note))
    write_json(target / "stats.json", stats.summarise(summary))
    return count


def _read_cases(
    store: Store, clearer: Clearer, run: Run
) -> Iterator[tuple[Response | None, ClearedCase]]:
    for offset in range(0, store.answers.count_instances(run.run_id), PAGE):
        page = store.answers.read_instances(run.run_id, offset, PAGE)
        cases = clearer.clear(run.run_id, page, read_seat_judgements(store, run, page))
        for stored, case in zip(page, cases, strict=True):
            yield stored.response, case


def _is_multiple_choice(store: Store, run: Run) -> bool:
    for stored in store.answers.read_each_instance(run.run_id):
        if stored.instance is not None:
            return stored.instance.multiple_choice
    return False  # no instance was stored, or all were purged


def _name_deployment(names: ShownNames, run: Run, shown: Run, *, reveal: bool) -> str:
    """Return the name to show for the deployment, whose own name may contain that of a machine."""
    if reveal:
        return run.deployment
    if run.deployment == run.model:
        return shown.model
    return names.label("deployment", run.deployment).replace("_", "/", 1)


def _choose_free_name(name: str, run_id: str, folder_names: set[str]) -> str:
    """Return `name`, with part of the run's id appended if another run of the export already has the name."""
    if name not in folder_names:
        return name
    return f"{name}-{run_id[:8]}"
