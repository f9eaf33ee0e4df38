"""A real site with a real store, filled with runs as `intramural run` leaves them, without asking any server."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.catalog.run_entries import parse_run_entry
from agent.inference.capabilities import Capabilities, Feature
from agent.inference.wire import request_identity
from agent.runs.plan import RunOptions, plan_runs
from agent.site.directory import Site, create_site
from agent.store import Audience, RunDetails
from agent.vocabulary import Failure, Instance, Message, Reason, Reference, Response, Unscored

CAPABILITIES = Capabilities(
    server="vllm",
    features={
        "temperature_zero": Feature("honoured", "answers repeat at temperature 0"),
        "logprobs": Feature("ignored", "asked for and not sent; nothing here needs them"),
    },
)
MODEL = "qwen/qwen2.5-7b-instruct"


@dataclass(frozen=True)
class Case:
    """One instance, what came back for it (None: not asked yet), and its score."""

    instance: Instance
    result: Response | Failure | None
    score: float | Unscored = 1.0


def case(
    number: int = 0,
    *,
    prompt: str | None = None,
    answer: str = "yes",
    reasoning: str = "",
    references: tuple[Reference, ...] = (Reference("yes", True), Reference("no", False)),
    identity: str = "patient",
    unit: str = "unit",
    score: float | Unscored = 1.0,
) -> Case:
    question = f"Does aspirin lower fever, question {number}?" if prompt is None else prompt
    instance = Instance(
        f"{identity}-{number}",
        f"{unit}-{number}",
        (Message("user", question),),
        references,
        multiple_choice=True,
    )
    return Case(instance, Response(answer, reasoning, "stop", 10, 2, 0.5), score)


def failed(number: int, reason: Reason = Reason.TIMEOUT) -> Case:
    return Case(case(number).instance, Failure(reason), Unscored(reason))


def unscored(number: int, reason: Reason = Reason.UNPARSED) -> Case:
    return case(number, answer="hm", score=Unscored(reason))


def graded(right: int, of: int) -> list[Case]:
    """`right` right answers, then wrong ones."""
    return [case(number, score=float(number < right)) for number in range(of)]


@dataclass
class FilledSite:
    """A site, and what puts runs into it."""

    site: Site

    def add(
        self,
        cases: Sequence[Case],
        *,
        suite: str = "november",
        entry: str = f"pubmed_qa:model={MODEL}",
        server: str = "http://127.0.0.1:9/v1",
        language_model: bool = True,
        ended: bool = True,
        limit: int | None = None,
        owner: str | None = None,
        private: bool = False,
        **details: Any,
    ) -> str:
        """Store a run of the cases; return its id. `details` replace what a run would keep of itself."""
        options = RunOptions(suite, server=server, max_eval_instances=limit, sample_seed=7)
        (plan,) = plan_runs(self.site, [parse_run_entry(entry)], options)
        found = Capabilities(
            CAPABILITIES.server, CAPABILITIES.features, language_model=language_model
        )
        kept = RunDetails.from_json({**plan.details(found, []).to_json(), **details})
        with self.site.serve(Audience(owner, sees_all=owner is None)).store() as store:
            bodies = [
                request_identity(plan.request(c.instance, Capabilities("unknown", {})))
                for c in cases
            ]
            keys = [
                store.identities.request_key(f"{plan.deployment.name} {entry}", body)
                for body in bodies
            ]
            run_id = store.runs.begin(
                suite=suite,
                name=plan.name,
                benchmark=plan.benchmark.id,
                lineage=plan.lineage,
                model=plan.model,
                deployment=plan.deployment.name,
                details=kept,
                planned=[(c.instance, key) for c, key in zip(cases, keys, strict=True)],
                scored_by=plan.scored_by(),
                private=private,
            )
            store.answers.settle(
                run_id,
                [
                    (key, c.result)
                    for c, key in zip(cases, keys, strict=True)
                    if isinstance(c.result, Response)
                ],
                [
                    (position, metric.name, c.score)
                    for position, c in enumerate(cases)
                    if c.result is not None
                    for metric in kept.metrics
                    if not metric.whole_run
                ],
                [
                    (position, metric.name, c.score if isinstance(c.score, Unscored) else None)
                    for position, c in enumerate(cases)
                    if c.result is not None
                    for metric in kept.metrics
                    if metric.whole_run
                ],
            )
            if ended:
                store.runs.end(run_id)
        return run_id

    def audited(self) -> list[str]:
        """What the audit log says was revealed outside the service, in order; each entry names the system's account."""
        with self.site.store() as store:
            details = [e.detail for e in store.audit.read_events() if e.event == "reveal"]
        who = f" uid={os.getuid()}"
        assert [detail for detail in details if not detail.endswith(who)] == []
        return [detail.removesuffix(who) for detail in details]


def filled_site(folder: Path, name: str = "St. Example Hospital") -> FilledSite:
    return FilledSite(create_site(folder / "site", name))


def twin_metrics() -> list[dict[str, object]]:
    """Return a metric as a run keeps it that scored it by both rules."""
    shared = {
        "metric": "exact_match",
        "low": 0,
        "high": 1,
        "binary": True,
        "helm_name": "exact_match",
        "options": {},
    }
    return [
        {
            "name": "exact_match",
            "display_name": "Exact match",
            "scoring": "intramural",
            "whole_run": False,
            **shared,
        },
        {
            "name": "exact_match@helm",
            "display_name": "Exact match",
            "scoring": "helm",
            "whole_run": False,
            **shared,
        },
    ]
