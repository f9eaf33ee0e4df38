"""Preparing: from the findings of a suite to unsigned statements, and to drafts with the agent's signature.

The drafts form the end of the site's chain, each naming the one before, so they are approved and sent in this order.
Preparing the same scores again gives the same bytes; other scores replace the draft, and those that follow it. Where
the bytes are those of a submission that became void, it takes its place again, with both its signatures: nothing new
leaves, so nobody is asked again.

A result's protected figures are debited to the ledger here, before anybody sees them, whether or not they are ever
sent: otherwise a figure could be prepared again and again until one pleases.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from agent import __version__
from agent.delivery.outbox import LIVE, Outbox, State, Submission
from agent.disclosure.cell_scores import Secrets
from agent.disclosure.chain import ChainEnd, check_ledger, settle_chain, standing_links
from agent.disclosure.commitment import record_key, scores_root, select_findings
from agent.disclosure.findings import Finding
from agent.disclosure.gate import GatedRelease, decide
from agent.disclosure.ledger import (
    Fingerprints,
    Ledger,
    ReleaseEntry,
    append_entry,
    fingerprint_key,
    ledger_key,
    read_ledger,
)
from agent.disclosure.perturbation import perturbation_key
from agent.disclosure.plans import PlanInUse, plan_for
from agent.errors import DisclosureError
from protocol import envelope
from protocol.disclosure import check_result
from protocol.errors import Code, ProtocolError
from protocol.identity import NONE, agent_digest, model_digest
from protocol.keys import Signer
from protocol.policy import DisclosurePolicy, stricter
from protocol.predicates import Header, Link, ResultPredicate
from protocol.registry import Registry
from protocol.scorecard import Scorecard
from protocol.statements import build_statement


@dataclass(frozen=True, slots=True)
class Gate:
    """What preparing needs besides findings: who signs, what the federation registered, what the site allows.

    Attributes:
        policy: the site's own; the stricter of it and the federation's is applied.
        data_key: the site's; salts of score records are derived from it.
        seal_key: the site's; the ledger's seal, fingerprints and noise are derived from it.
        today_day: days since 1970-01-01 UTC.
    """

    outbox: Outbox
    registry: Registry
    policy: DisclosurePolicy
    signer: Signer
    data_key: bytes
    seal_key: bytes
    today_day: int
    agent_version: str = __version__

    @property
    def secrets(self) -> Secrets:
        """What the gate's decisions depend on besides scores."""
        return Secrets(Fingerprints(fingerprint_key(self.seal_key)), perturbation_key(self.seal_key))

    def ledger(self) -> Ledger:
        """Read the ledger of releases. Raises DisclosureError."""
        return read_ledger(self.outbox.ledger, ledger_key(self.seal_key))

    def append(self, ledger: Ledger) -> None:
        """Write the last entry of `ledger`; its others are on the disk already. The caller holds the outbox."""
        append_entry(self.outbox.ledger, ledger, ledger_key(self.seal_key))


@dataclass(frozen=True, slots=True)
class Prepared:
    """What came of one call: `submissions` in the order of the models; `new` of them were made by this call.

    `dropped` are the digests of drafts that were replaced, or that followed a replaced one.
    """

    submissions: tuple[Submission, ...]
    new: frozenset[str]
    dropped: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Job:
    """One model's submission to be made."""

    model: str
    findings: Sequence[Finding]
    root: str


def prepare(gate: Gate, scorecard: Scorecard, findings: Mapping[str, Sequence[Finding]], suite: str = "") -> Prepared:
    """Prepare one submission for each model.

    Args:
        gate: who and where.
        scorecard: a registered one.
        findings: by the model's registered name.
        suite: whose runs they are of; kept with the verdicts, so that an audit finds the runs again.

    Raises:
        DisclosureError: the gate refuses, the site, scorecard, a model or this agent is not registered, or the ledger
            or a submission was changed. Nothing was signed then, except for models before the one that failed.
        StoreError: a file cannot be read or written.
    """
    site = enrolled_site(gate.registry, gate.signer.public.keyid)
    named, policy = effective_policy(gate.registry, gate.policy)
    _check_registered(gate, scorecard, findings)
    with gate.outbox.held():
        submissions = gate.outbox.all()
        check_ledger(gate.ledger(), submissions, gate.registry.sites[site])
        end = settle_chain(gate.outbox, gate.registry.sites[site], submissions)
        live = standing_links(gate.outbox.all())
        jobs = {job.model: job for job in _jobs(gate, scorecard, findings)}
        done = {model: same for model, job in jobs.items() if (same := _released(live, scorecard, job)) is not None}
        waiting = {model: job for model, job in jobs.items() if model not in done}
        drafts = [s for s in submissions if s.state is State.PREPARED]
        kept = _kept_drafts(gate, drafts, end, scorecard, waiting, policy)
        dropped = [draft.digest for draft in drafts[len(kept) :]]
        for digest in reversed(dropped):
            gate.outbox.drop_draft(digest)
        for draft in kept:
            end = end.after(draft)
            if draft.is_result and draft.result.model in waiting and draft.result.scorecard == scorecard.digest:
                done[draft.result.model] = draft
        new = set()
        for model, job in waiting.items():
            if model in done:
                continue
            draft = _draft_result(gate, job, scorecard, site, end, named, policy, suite, live)
            done[model] = draft
            if draft in live:
                continue
            end = end.after(draft)
            if draft.state is State.PREPARED:
                new.add(draft.digest)
        return Prepared(tuple(done[model] for model in jobs), frozenset(new), tuple(dropped))


def draft_statement(
    gate: Gate,
    build: Callable[[Header], Link],
    *,
    verdicts: Mapping[str, object] | None = None,
    notes: Mapping[str, int] | None = None,
) -> Submission:
    """Draft a statement that is no result, at the end of the chain. The caller holds the outbox.

    Args:
        gate: who and where.
        build: returns the statement with the header that it is given.
        verdicts: kept beside the draft, for pages.
        notes: exact figures that the steward is shown as the site's word; they stay on site.

    Raises:
        DisclosureError: the site is not enrolled, or the ledger or a submission was changed.
    """
    site = enrolled_site(gate.registry, gate.signer.public.keyid)
    submissions = gate.outbox.all()
    ledger = gate.ledger()
    check_ledger(ledger, submissions, gate.registry.sites[site])
    end = settle_chain(gate.outbox, gate.registry.sites[site], submissions)
    for draft in (s for s in gate.outbox.all() if s.state is State.PREPARED):
        if not end.leads_to(draft) or not _is_signed_by_us(gate, draft):
            gate.outbox.drop_draft(draft.digest)
            continue
        end = end.after(draft)
    return _put_draft(
        gate, build(end.header(gate.registry, site, ledger.head)), {**(verdicts or {}), "notes": dict(notes or {})}
    )


def enrolled_site(registry: Registry, agent_keyid: str) -> str:
    """Return the id of the site that this agent's key belongs to. Raises DisclosureError."""
    found = registry.site_of(agent_keyid)
    if found is None or found[1].role != "agent" or found[1].revoked_from is not None:
        raise DisclosureError(
            "the registry does not know this site's agent key, or it was revoked",
            "After the aggregator's people have enrolled the site, run `intramural registry update`.",
        )
    return found[0]


def effective_policy(registry: Registry, own: DisclosurePolicy) -> tuple[str, DisclosurePolicy]:
    """Return the digest of the policy a submission names, and the one that is applied: the stricter of both.

    A site may tighten with a policy that is registered nowhere; its submissions then name the federation's floor.
    """
    named = own.digest if own.digest in registry.policies else registry.policy_floor
    try:
        return named, stricter(own, registry.policy_for(named))
    except ProtocolError:
        raise DisclosureError("the registry's own disclosure policy is missing from it") from None


def _check_registered(gate: Gate, scorecard: Scorecard, findings: Mapping[str, Sequence[Finding]]) -> None:
    check_scorecard(gate.registry, scorecard, gate.agent_version)
    check_models(gate.registry, findings)
    for name in sorted(findings):
        said_none = any(not finding.language_model for finding in findings[name])
        if said_none and gate.registry.models[model_digest(name)].is_language_model:
            raise DisclosureError(
                f"{name}: the registry has it as a language model, but its server says that it is none",
                "Ask the aggregator's people to register it with --not-a-language-model, then run "
                "`intramural registry update`; or name the models to submit with --model.",
            )


def check_scorecard(registry: Registry, scorecard: Scorecard, agent_version: str) -> None:
    """Check that a scorecard is taken, and this version of the agent known. Raises DisclosureError."""
    known = registry.scorecards.get(scorecard.digest)
    if known is None or known.retired:
        raise DisclosureError(f"scorecard {scorecard.name} is not registered, or was retired")
    if agent_digest(agent_version) not in registry.agents:
        raise DisclosureError(
            f"version {agent_version} of the agent is not registered with the aggregator",
            "Install a registered version, or ask the aggregator's people to register this one.",
        )


def check_models(registry: Registry, names: Sequence[str] | Mapping[str, object]) -> None:
    """Check that models are registered under these names. Raises DisclosureError."""
    unknown = sorted(name for name in names if model_digest(name) not in registry.models)
    if unknown:
        raise DisclosureError(
            f"not registered with the aggregator: {', '.join(unknown)}",
            "Ask the aggregator's people to register the model, then run `intramural registry update`; "
            "or name the models to submit with --model.",
        )


def _jobs(gate: Gate, scorecard: Scorecard, findings: Mapping[str, Sequence[Finding]]) -> list[_Job]:
    """Return what is asked for, in the order of the models' names, with the root over the scores that count."""
    secret = record_key(gate.data_key)
    jobs = []
    for name in sorted(findings):
        used = select_findings(findings[name], scorecard)
        if not any(finding.scores for finding in used):
            raise DisclosureError(f"{name}: no benchmark of the scorecard was run", "Run one, then prepare again.")
        model = model_digest(name)
        root = scores_root(used, model=model, scorecard=scorecard.digest, site_secret=secret)
        jobs.append(_Job(model, used, root))
    return jobs


def _released(live: Sequence[Submission], scorecard: Scorecard, job: _Job) -> Submission | None:
    """Return the model's newest submission if it is about exactly these scores: the same release again."""
    results = [s for s in live if s.is_result]
    of_model = [s for s in results if (s.result.model, s.result.scorecard) == (job.model, scorecard.digest)]
    return of_model[-1] if of_model and of_model[-1].result.scores_root == job.root else None


def _kept_drafts(
    gate: Gate,
    drafts: Sequence[Submission],
    end: ChainEnd,
    scorecard: Scorecard,
    waiting: Mapping[str, _Job],
    policy: DisclosurePolicy,
) -> list[Submission]:
    """Return the drafts that would come out the same, up to the first that would not."""
    kept: list[Submission] = []
    for draft in drafts:
        fits = end.leads_to(draft) and draft.header.registry == gate.registry.version and _is_signed_by_us(gate, draft)
        if fits and draft.is_result:
            result = draft.result
            job = waiting.get(result.model) if result.scorecard == scorecard.digest else None
            fits = (
                result.agent == agent_digest(gate.agent_version)
                and gate.outbox.verdicts(draft.digest).get("policy") == policy.digest
                and (job is None or job.root == result.scores_root)
            )
        if not fits:
            break
        kept.append(draft)
        end = end.after(draft)
    return kept


def _is_signed_by_us(gate: Gate, draft: Submission) -> bool:
    """Whether a draft has the signature of the agent's present key; one of before a rotation has another."""
    return gate.signer.public.keyid in {signature.keyid for signature in draft.envelope.signatures}


def _draft_result(
    gate: Gate,
    job: _Job,
    scorecard: Scorecard,
    site: str,
    end: ChainEnd,
    named: str,
    policy: DisclosurePolicy,
    suite: str,
    live: Sequence[Submission],
) -> Submission:
    """Decide one submission, debit it to the ledger, then build, sign and keep it.

    Where every figure comes out as in a submission that stands already, that one is returned: a second statement of
    the same figures, with another root, would say that some score has changed.
    """
    ledger = gate.ledger()
    release = decide(
        scorecard,
        policy,
        job.findings,
        model=job.model,
        scores_root=job.root,
        day=gate.today_day,
        ledger=ledger,
        secrets=gate.secrets,
    )
    plan = plan_for(gate.outbox, gate.registry, job.findings, model=job.model, scorecard=scorecard.digest)
    debit = ReleaseEntry(job.model, scorecard.digest, job.root, policy.digest, release.footprint)
    before = ledger.find_debit(job.model, scorecard.digest, job.root)
    is_new = bool(release.footprint) and (before is None or before[1] != debit)
    debited = ledger.followed_by(debit, gate.today_day) if is_new else ledger
    head = debited.head
    if before is not None and not is_new and before[0].number >= end.ledger_length:
        head = before[0].head  # so that the same release again is the same bytes
    header = end.header(gate.registry, site, head)
    # Built, and checked by the aggregator's rules, before the debit: what cannot be submitted costs nothing.
    statement = _result_statement(gate, job, scorecard, release, header, named, policy, plan)
    for earlier in reversed(live):
        if earlier.is_result and _says_the_same(earlier.result, statement):
            return earlier
    if is_new:
        gate.append(debited)
    verdicts = {
        "policy": policy.digest,
        "suite": suite,
        "cells": {key: rule.value for key, rule in release.verdicts.items()},
        "data": {f.benchmark: asdict(f.extent) for f in job.findings if not (f.subgroup or f.extent.everything)},
        "notes": {},
    }
    return _put_draft(gate, statement, verdicts)


def _says_the_same(earlier: ResultPredicate, later: ResultPredicate) -> bool:
    """Whether two results differ in nothing but when they were made and which scores are behind them."""
    return replace(earlier, header=later.header, day=later.day, scores_root=later.scores_root) == later


def _put_draft(gate: Gate, statement: Link, verdicts: Mapping[str, object]) -> Submission:
    """Sign and keep a draft. A void submission of exactly these bytes takes its place again instead."""
    data = envelope.sign(build_statement(statement), [gate.signer])
    digest = envelope.decode(data).digest
    if not gate.outbox.restore(digest):
        gate.outbox.put_draft(digest, data, verdicts)
    return gate.outbox.get(digest)


def _result_statement(
    gate: Gate,
    job: _Job,
    scorecard: Scorecard,
    release: GatedRelease,
    header: Header,
    named: str,
    policy: DisclosurePolicy,
    plan: PlanInUse,
) -> ResultPredicate:
    """Return the statement, once the rules that the aggregator will apply have been applied to it.

    Raises:
        DisclosureError: it breaks one of them.
    """
    statement = ResultPredicate(
        header=header,
        scorecard=scorecard.digest,
        model=job.model,
        agent=agent_digest(gate.agent_version),
        policy=named,
        data={name: dataset_statement(gate.outbox, commitment) for name, commitment in release.data.items()},
        plan=plan.digest,
        challenge=plan.challenge,
        scores_root=job.root,
        day=gate.today_day,
        outcome="complete" if release.complete and plan.is_whole(job.findings) else "partial",
        approval="two_person",
        groups=release.groups,
        cells=release.cells,
        spreads=release.spreads,
    )
    try:
        check_result(statement, scorecard, policy)
        check_result(statement, scorecard, gate.registry.policy_for(named))  # as the aggregator will
    except ProtocolError as error:
        raise _refusal(error) from None
    return statement


def dataset_statement(outbox: Outbox, commitment: str) -> str:
    """Return the digest of the statement that registered a dataset; `none` for none.

    Raises:
        DisclosureError: there is none that was, or waits to be, approved.
    """
    if commitment == NONE:
        return NONE
    usable = {State.PREPARED, *LIVE} - {State.REFUSED}
    found = [s for s in outbox.all() if s.dataset is not None and s.dataset.commitment == commitment]
    digests = [s.digest for s in found if s.state in usable]
    if not digests:
        raise DisclosureError(
            "the statement that registers the dataset was refused or discarded",
            "Run `intramural datasets register` again, then prepare again.",
        )
    return digests[-1]


def _refusal(error: ProtocolError) -> DisclosureError:
    if error.code is Code.NOTHING_PUBLISHED:
        return DisclosureError(
            "every figure is suppressed or was not run, so there is nothing to submit",
            "The benchmarks have too few units for the disclosure policy, or too few changed since an earlier release; "
            "run more of them.",
        )
    if error.code is Code.OFF_GRID:
        return DisclosureError(
            f"the site's own disclosure policy rounds to another grid than the federation's ({error.detail})",
            "Choose another `grid_units` in the site's policy, or have that policy registered with the aggregator.",
        )
    return DisclosureError(f"the figures do not obey the disclosure policy ({error.code}: {error.detail})")
