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
from agent.disclosure.chain import ChainEnd, check_ledger, select_standing_links, settle_chain
from agent.disclosure.commitment import compute_scores_root, derive_record_key, select_findings
from agent.disclosure.findings import Finding
from agent.disclosure.gate import GatedRelease, decide
from agent.disclosure.ledger import (
    Fingerprints,
    Ledger,
    ReleaseEntry,
    append_entry,
    derive_fingerprint_key,
    derive_ledger_key,
    read_ledger,
)
from agent.disclosure.perturbation import derive_perturbation_key
from agent.disclosure.plans import find_plan
from agent.errors import DisclosureError
from protocol import envelope
from protocol.disclosure import check_result
from protocol.errors import Code, ProtocolError
from protocol.identity import NONE, agent_digest, model_digest
from protocol.keys import Signer
from protocol.policy import DisclosurePolicy, stricter
from protocol.predicates import Header, LedgerHead, Link, ResultPredicate
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
        return Secrets(
            Fingerprints(derive_fingerprint_key(self.seal_key)),
            derive_perturbation_key(self.seal_key),
        )

    def ledger(self) -> Ledger:
        """Read the ledger of releases. Raises DisclosureError."""
        return read_ledger(self.outbox.ledger, derive_ledger_key(self.seal_key))

    def append(self, ledger: Ledger) -> None:
        """Write the last entry of `ledger`; its others are on the disk already. The caller holds the outbox."""
        append_entry(self.outbox.ledger, ledger, derive_ledger_key(self.seal_key))


@dataclass(frozen=True, slots=True)
class Prepared:
    """The outcome of one call.

    Attributes:
        submissions: in the order of the models.
        new: digests of those that this call made.
        dropped: digests of drafts that were replaced, or that followed a replaced one.
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


@dataclass(frozen=True, slots=True)
class _Preparation:
    """The conditions that all submissions of one call share.

    Attributes:
        site: id of the enrolled site.
        named_policy: digest of the policy that submissions name.
        policy: the one that is applied, see `choose_policy`.
        suite: kept with the verdicts.
        standing: links of the chain that nothing withdraws, oldest first.
    """

    gate: Gate
    scorecard: Scorecard
    site: str
    named_policy: str
    policy: DisclosurePolicy
    suite: str
    standing: Sequence[Submission]

    def is_about_scorecard(self, submission: Submission) -> bool:
        """Whether a submission is a result on this call's scorecard."""
        return submission.is_result and submission.result.scorecard == self.scorecard.digest


def prepare(
    gate: Gate, scorecard: Scorecard, findings: Mapping[str, Sequence[Finding]], suite: str = ""
) -> Prepared:
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
    site = find_enrolled_site(gate.registry, gate.signer.public.keyid)
    named_policy, policy = choose_policy(gate.registry, gate.policy)
    _check_registered(gate, scorecard, findings)
    with gate.outbox.held():
        submissions = gate.outbox.list_submissions()
        check_ledger(gate.ledger(), submissions, gate.registry.sites[site])
        end = settle_chain(gate.outbox, gate.registry.sites[site], submissions)
        preparation = _Preparation(
            gate=gate,
            scorecard=scorecard,
            site=site,
            named_policy=named_policy,
            policy=policy,
            suite=suite,
            standing=select_standing_links(gate.outbox.list_submissions()),
        )
        jobs = _list_jobs(gate, scorecard, findings)
        by_model: dict[str, Submission] = {}
        for model, job in jobs.items():
            release = _find_same_release(preparation, job)
            if release is not None:
                by_model[model] = release

        waiting = {model: job for model, job in jobs.items() if model not in by_model}
        drafts = [submission for submission in submissions if submission.state is State.PREPARED]
        unchanged = _select_unchanged(preparation, drafts, end, waiting)
        # Each draft names the one before it, so those after the first that changes go too: the last one first.
        dropped = [draft.digest for draft in drafts[len(unchanged) :]]
        for digest in reversed(dropped):
            gate.outbox.drop_draft(digest)
        for draft in unchanged:
            end = end.after(draft)
            if preparation.is_about_scorecard(draft) and draft.result.model in waiting:
                by_model[draft.result.model] = draft

        new: set[str] = set()
        for model, job in waiting.items():
            if model in by_model:
                continue
            submission = _draft_result(preparation, job, end)
            by_model[model] = submission
            if submission in preparation.standing:
                continue
            end = end.after(submission)
            if submission.state is State.PREPARED:
                new.add(submission.digest)
        return Prepared(
            submissions=tuple(by_model[model] for model in jobs),
            new=frozenset(new),
            dropped=tuple(dropped),
        )


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
    site = find_enrolled_site(gate.registry, gate.signer.public.keyid)
    submissions = gate.outbox.list_submissions()
    ledger = gate.ledger()
    check_ledger(ledger, submissions, gate.registry.sites[site])
    end = settle_chain(gate.outbox, gate.registry.sites[site], submissions)
    for draft in gate.outbox.list_submissions():
        if draft.state is not State.PREPARED:
            continue
        if end.leads_to(draft) and _is_signed_by_us(gate, draft):
            end = end.after(draft)
        else:
            gate.outbox.drop_draft(draft.digest)
    statement = build(end.header(gate.registry, site, ledger.head))
    return _put_draft(gate, statement, {**(verdicts or {}), "notes": dict(notes or {})})


def find_enrolled_site(registry: Registry, agent_keyid: str) -> str:
    """Return the id of the site that this agent's key belongs to. Raises DisclosureError."""
    match = registry.site_of(agent_keyid)
    if match is not None:
        site, key = match
        if key.role == "agent" and key.revoked_from is None:
            return site
    raise DisclosureError(
        "the registry does not know this site's agent key, or it was revoked",
        "After the aggregator's people have enrolled the site, run `intramural registry update`.",
    )


def choose_policy(
    registry: Registry, site_policy: DisclosurePolicy
) -> tuple[str, DisclosurePolicy]:
    """Return the digest of the policy a submission names, and the one that is applied: the stricter of both.

    A site may tighten with a policy that is registered nowhere; its submissions then name the federation's floor.
    """
    named_policy = registry.policy_floor
    if site_policy.digest in registry.policies:
        named_policy = site_policy.digest
    try:
        return named_policy, stricter(site_policy, registry.policy_for(named_policy))
    except ProtocolError:
        raise DisclosureError("the registry's own disclosure policy is missing from it") from None


def _check_registered(
    gate: Gate, scorecard: Scorecard, findings: Mapping[str, Sequence[Finding]]
) -> None:
    check_scorecard(gate.registry, scorecard, gate.agent_version)
    check_models(gate.registry, findings)
    for name in sorted(findings):
        is_denied = any(not finding.language_model for finding in findings[name])
        if is_denied and gate.registry.models[model_digest(name)].is_language_model:
            raise DisclosureError(
                f"{name}: the registry has it as a language model, but its server says that it is none",
                "Ask the aggregator's people to register it with --not-a-language-model, then run "
                "`intramural registry update`; or name the models to submit with --model.",
            )


def check_scorecard(registry: Registry, scorecard: Scorecard, agent_version: str) -> None:
    """Check that a scorecard is taken, and this version of the agent known. Raises DisclosureError."""
    registered = registry.scorecards.get(scorecard.digest)
    if registered is None or registered.retired:
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


def _list_jobs(
    gate: Gate, scorecard: Scorecard, findings: Mapping[str, Sequence[Finding]]
) -> dict[str, _Job]:
    """Return the requested submissions by model, ordered by the models' names, with the root over the used scores."""
    secret = derive_record_key(gate.data_key)
    jobs: dict[str, _Job] = {}
    for name in sorted(findings):
        used = select_findings(findings[name], scorecard)
        if not any(finding.scores for finding in used):
            raise DisclosureError(
                f"{name}: no benchmark of the scorecard was run", "Run one, then prepare again."
            )
        model = model_digest(name)
        root = compute_scores_root(
            used, model=model, scorecard=scorecard.digest, site_secret=secret
        )
        jobs[model] = _Job(model, used, root)
    return jobs


def _find_same_release(preparation: _Preparation, job: _Job) -> Submission | None:
    """Return the model's newest standing submission if it is about exactly these scores: the same release again."""
    for submission in reversed(preparation.standing):
        if preparation.is_about_scorecard(submission) and submission.result.model == job.model:
            return submission if submission.result.scores_root == job.root else None
    return None


def _select_unchanged(
    preparation: _Preparation,
    drafts: Sequence[Submission],
    end: ChainEnd,
    waiting: Mapping[str, _Job],
) -> list[Submission]:
    """Return the drafts that would come out the same, up to the first that would not."""
    unchanged: list[Submission] = []
    for draft in drafts:
        if not _is_unchanged(preparation, draft, end, waiting):
            break
        unchanged.append(draft)
        end = end.after(draft)
    return unchanged


def _is_unchanged(
    preparation: _Preparation, draft: Submission, end: ChainEnd, waiting: Mapping[str, _Job]
) -> bool:
    """Whether a draft, made now at this end of the chain, would come out the same."""
    gate = preparation.gate
    if (
        not end.leads_to(draft)
        or draft.header.registry != gate.registry.version
        or not _is_signed_by_us(gate, draft)
    ):
        return False
    if not draft.is_result:
        return True
    result = draft.result
    if result.agent != agent_digest(gate.agent_version):
        return False
    if gate.outbox.read_verdicts(draft.digest).get("policy") != preparation.policy.digest:
        return False
    # A result that this call does not prepare again stays as it is.
    if not preparation.is_about_scorecard(draft) or result.model not in waiting:
        return True
    return waiting[result.model].root == result.scores_root


def _is_signed_by_us(gate: Gate, draft: Submission) -> bool:
    """Whether a draft has the signature of the agent's present key; one from before a rotation has another."""
    return gate.signer.public.keyid in {signature.keyid for signature in draft.envelope.signatures}


def _draft_result(preparation: _Preparation, job: _Job, end: ChainEnd) -> Submission:
    """Decide one submission, debit it to the ledger, then build, sign and keep it.

    Where every figure comes out as in a submission that stands already, that one is returned: a second statement of
    the same figures, with another root, would say that some score has changed.
    """
    gate = preparation.gate
    ledger = gate.ledger()
    release = decide(
        preparation.scorecard,
        preparation.policy,
        job.findings,
        model=job.model,
        scores_root=job.root,
        day=gate.today_day,
        ledger=ledger,
        secrets=gate.secrets,
    )
    debit = _plan_debit(preparation, job, release, ledger, end)
    header = end.header(gate.registry, preparation.site, debit.head)
    # Built, and checked by the aggregator's rules, before the debit: what cannot be submitted costs nothing.
    statement = _build_statement(preparation, job, release, header)
    for earlier in reversed(preparation.standing):
        if earlier.is_result and _has_same_figures(earlier.result, statement):
            return earlier
    if debit.is_new:
        gate.append(debit.ledger)
    return _put_draft(gate, statement, _list_verdicts(preparation, job, release))


@dataclass(frozen=True, slots=True)
class _Debit:
    """The debit of one release.

    Attributes:
        ledger: with the debit.
        is_new: whether the debit is the last entry of `ledger`, and not yet on the disk.
        head: of the ledger, as the statement names it.
    """

    ledger: Ledger
    is_new: bool
    head: LedgerHead


def _plan_debit(
    preparation: _Preparation, job: _Job, release: GatedRelease, ledger: Ledger, end: ChainEnd
) -> _Debit:
    """Return the debit of a release. One without protected figures, or debited before, adds no entry."""
    entry = ReleaseEntry(
        model=job.model,
        scorecard=preparation.scorecard.digest,
        scores_root=job.root,
        policy=preparation.policy.digest,
        cells=release.footprint,
    )
    earlier_debit = ledger.find_debit(job.model, preparation.scorecard.digest, job.root)
    if earlier_debit is None:
        if not release.footprint:
            return _Debit(ledger, is_new=False, head=ledger.head)
    else:
        earlier_line, earlier_entry = earlier_debit
        if not release.footprint or earlier_entry == entry:
            # The statement names the head of that time, so that the same release again is the same bytes; unless the
            # chain has named a longer ledger since, which a later link may not fall behind.
            head = earlier_line.head if earlier_line.number >= end.ledger_length else ledger.head
            return _Debit(ledger, is_new=False, head=head)
    debited = ledger.followed_by(entry, preparation.gate.today_day)
    return _Debit(debited, is_new=True, head=debited.head)


def _list_verdicts(
    preparation: _Preparation, job: _Job, release: GatedRelease
) -> dict[str, object]:
    """Return the content of the verdict file that is kept beside a result."""
    extents: dict[str, object] = {}
    for finding in job.findings:
        if not finding.subgroup and not finding.extent.everything:
            extents[finding.benchmark] = asdict(finding.extent)
    return {
        "policy": preparation.policy.digest,
        "suite": preparation.suite,
        "cells": {key: rule.value for key, rule in release.verdicts.items()},
        "data": extents,
        "notes": {},
    }


def _has_same_figures(earlier: ResultPredicate, later: ResultPredicate) -> bool:
    """Whether two results differ only in when they were made and which scores are behind them."""
    return (
        replace(earlier, header=later.header, day=later.day, scores_root=later.scores_root) == later
    )


def _put_draft(gate: Gate, statement: Link, verdicts: Mapping[str, object]) -> Submission:
    """Sign and keep a draft. A void submission of exactly these bytes takes its place again instead."""
    data = envelope.sign(build_statement(statement), [gate.signer])
    digest = envelope.decode(data).digest
    if not gate.outbox.restore(digest):
        gate.outbox.put_draft(digest, data, verdicts)
    return gate.outbox.get(digest)


def _build_statement(
    preparation: _Preparation, job: _Job, release: GatedRelease, header: Header
) -> ResultPredicate:
    """Return the statement, once the rules that the aggregator will apply have been applied to it.

    Raises:
        DisclosureError: it breaks one of them.
    """
    gate, scorecard = preparation.gate, preparation.scorecard
    plan = find_plan(
        gate.outbox, gate.registry, job.findings, model=job.model, scorecard=scorecard.digest
    )
    data: dict[str, str] = {}
    for benchmark, commitment in release.data.items():
        data[benchmark] = find_dataset_statement(gate.outbox, commitment)
    is_complete = release.complete and plan.is_whole(job.findings)
    statement = ResultPredicate(
        header=header,
        scorecard=scorecard.digest,
        model=job.model,
        agent=agent_digest(gate.agent_version),
        policy=preparation.named_policy,
        data=data,
        plan=plan.digest,
        challenge=plan.challenge,
        scores_root=job.root,
        day=gate.today_day,
        outcome="complete" if is_complete else "partial",
        approval="two_person",
        groups=release.groups,
        cells=release.cells,
        spreads=release.spreads,
    )
    try:
        check_result(statement, scorecard, preparation.policy)
        # As the aggregator will: it knows only the policy that the statement names.
        check_result(statement, scorecard, gate.registry.policy_for(preparation.named_policy))
    except ProtocolError as error:
        raise _explain_refusal(error) from None
    return statement


def find_dataset_statement(outbox: Outbox, commitment: str) -> str:
    """Return the digest of the statement that registered a dataset; `none` for none.

    Raises:
        DisclosureError: no such statement is approved or waits for approval.
    """
    if commitment == NONE:
        return NONE
    usable = {State.PREPARED, *LIVE} - {State.REFUSED}
    for submission in reversed(outbox.list_submissions()):
        statement = submission.dataset
        if (
            submission.state in usable
            and statement is not None
            and statement.commitment == commitment
        ):
            return submission.digest
    raise DisclosureError(
        "the statement that registers the dataset was refused or discarded",
        "Run `intramural datasets register` again, then prepare again.",
    )


def _explain_refusal(error: ProtocolError) -> DisclosureError:
    """Return the error that tells the operator why the aggregator would refuse a result."""
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
    return DisclosureError(
        f"the figures do not obey the disclosure policy ({error.code}: {error.detail})"
    )
