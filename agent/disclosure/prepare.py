"""Preparation of submissions: build statements from the findings of a suite, and draft them with the agent's signature.

Drafts form the end of the site's chain. Each refers to the one before it, so they are approved and sent in this order.
Preparing the same scores again gives the same bytes. Other scores replace the draft and the drafts after it. If the
bytes equal those of a void submission, that submission is restored with both its signatures: since nothing new leaves
the site, it does not have to be approved again.

A result's protected figures are debited to the ledger here, before anyone sees them, whether or not they are ever
sent. Otherwise a site could repeat the preparation until it likes the figures.
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
from protocol.verification import DAY_WINDOW


@dataclass(frozen=True, slots=True)
class Gate:
    """The outbox, registry, policy and keys with which submissions are prepared.

    Attributes:
        outbox: the site's outbox.
        registry: the newest registry that the site has.
        policy: the site's own policy; the stricter of it and the federation's is applied.
        signer: the agent's key.
        data_key: the site's data key, from which salts of score records derive.
        seal_key: the site's seal key, from which the keys of the ledger, fingerprints and noise derive.
        today_day: days since 1970-01-01 UTC.
        agent_version: version of the agent that statements name.
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
        """The secrets that the gate's decisions depend on."""
        return Secrets(
            Fingerprints(derive_fingerprint_key(self.seal_key)),
            derive_perturbation_key(self.seal_key),
        )

    def ledger(self) -> Ledger:
        """Read the ledger of releases. Raises DisclosureError."""
        return read_ledger(self.outbox.ledger, derive_ledger_key(self.seal_key))

    def append(self, ledger: Ledger) -> None:
        """Write the last entry of `ledger`; the others are already on disk. The caller holds the outbox."""
        append_entry(self.outbox.ledger, ledger, derive_ledger_key(self.seal_key))


@dataclass(frozen=True, slots=True)
class Prepared:
    """The outcome of `prepare`.

    Attributes:
        submissions: one submission per model, in the order of the models' names.
        new: digests of the submissions that this call drafted.
        dropped: digests of deleted drafts: replaced ones and those that followed them.
    """

    submissions: tuple[Submission, ...]
    new: frozenset[str]
    dropped: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Job:
    """A submission to be made for one model."""

    model: str
    findings: Sequence[Finding]
    root: str


@dataclass(frozen=True, slots=True)
class _Preparation:
    """The conditions that all submissions of one call share.

    Attributes:
        site: id of the enrolled site.
        named_policy: digest of the policy that submissions name.
        policy: the policy that is applied, see `choose_policy`.
        suite: name of the suite, which is stored with the verdicts.
        standing: the links of the chain that have not been withdrawn, oldest first.
    """

    gate: Gate
    scorecard: Scorecard
    site: str
    named_policy: str
    policy: DisclosurePolicy
    suite: str
    standing: Sequence[Submission]

    def is_about_scorecard(self, submission: Submission) -> bool:
        """Return whether a submission is a result for this scorecard."""
        return submission.is_result and submission.result.scorecard == self.scorecard.digest


def prepare(
    gate: Gate, scorecard: Scorecard, findings: Mapping[str, Sequence[Finding]], suite: str = ""
) -> Prepared:
    """Prepare one submission for each model.

    Args:
        gate: the outbox, keys and policies to prepare with.
        scorecard: a registered scorecard.
        findings: the findings by the model's registered name.
        suite: the suite of the runs; it is stored with the verdicts, so that an audit can find the runs again.

    Raises:
        DisclosureError: the gate refuses a submission, the site, the scorecard, a model or this version of the agent
            is not registered, or the ledger or a submission was changed. Only submissions of models before the one
            that failed were signed.
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
        # Each draft refers to the one before it, so all drafts after the first changed one are deleted, last one first.
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
    """Draft a statement other than a result at the end of the chain. The caller holds the outbox.

    Args:
        gate: the outbox, keys and policies to prepare with.
        build: returns the statement with a given header.
        verdicts: values for pages, which are stored in the draft's verdict file.
        notes: exact numbers that the site tells its steward; they are not part of the statement.

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
        "this site's agent key is not in the registry, or was revoked",
        "After the central team has enrolled the site, run `intramural registry update`.",
    )


def choose_policy(
    registry: Registry, site_policy: DisclosurePolicy
) -> tuple[str, DisclosurePolicy]:
    """Return the digest of the policy that submissions name, and the policy that is applied.

    The applied policy is the stricter of the named one and the site's own. A site may use a stricter policy that is not
    registered; its submissions then name the federation's policy floor.
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
                f"{name}: it is registered as a language model, but its server reports that it is not one",
                "Ask the central team to register it with --not-a-language-model, then run "
                "`intramural registry update`; or name the models to submit with --model.",
            )


def check_scorecard(registry: Registry, scorecard: Scorecard, agent_version: str) -> None:
    """Check that the scorecard and this version of the agent are registered. Raises DisclosureError."""
    registered = registry.scorecards.get(scorecard.digest)
    if registered is None or registered.retired:
        raise DisclosureError(f"scorecard {scorecard.name} is not registered, or was retired")
    if agent_digest(agent_version) not in registry.agents:
        raise DisclosureError(
            f"version {agent_version} of the agent is not registered with the aggregator",
            "Install a registered version, or ask the central team to register this one.",
        )


def check_models(registry: Registry, names: Sequence[str] | Mapping[str, object]) -> None:
    """Check that models are registered under these names. Raises DisclosureError."""
    unknown = sorted(name for name in names if model_digest(name) not in registry.models)
    if unknown:
        raise DisclosureError(
            f"these models are not registered with the aggregator: {', '.join(unknown)}",
            "Ask the central team to register the model, then run `intramural registry update`; "
            "or name the models to submit with --model.",
        )


def _list_jobs(
    gate: Gate, scorecard: Scorecard, findings: Mapping[str, Sequence[Finding]]
) -> dict[str, _Job]:
    """Return the submissions to be made, by model digest and in the order of the models' names."""
    secret = derive_record_key(gate.data_key)
    jobs: dict[str, _Job] = {}
    for name in sorted(findings):
        used = select_findings(findings[name], scorecard)
        if not any(finding.scores for finding in used):
            raise DisclosureError(
                f"{name}: no benchmark of the scorecard was run",
                "Run at least one, then prepare again.",
            )
        model = model_digest(name)
        root = compute_scores_root(
            used, model=model, scorecard=scorecard.digest, site_secret=secret
        )
        jobs[model] = _Job(model, used, root)
    return jobs


def _find_same_release(preparation: _Preparation, job: _Job) -> Submission | None:
    """Return the model's newest standing result for the scorecard if it has exactly these scores, else None."""
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
    """Return the leading drafts that would not change if they were made again."""
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
    """Return whether a draft would stay the same if it were made again now at this end of the chain."""
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
    # This call does not prepare other results again, so they stay unchanged.
    if not preparation.is_about_scorecard(draft) or result.model not in waiting:
        return True
    # The aggregator refuses a day that has not come yet, as under a clock that was wrong, or is long past.
    is_of_today = 0 <= gate.today_day - result.day < DAY_WINDOW
    return is_of_today and waiting[result.model].root == result.scores_root


def _is_signed_by_us(gate: Gate, draft: Submission) -> bool:
    """Return whether a draft has a signature by the agent's current key, which a rotation may have replaced."""
    return gate.signer.public.keyid in {signature.keyid for signature in draft.envelope.signatures}


def _draft_result(preparation: _Preparation, job: _Job, end: ChainEnd) -> Submission:
    """Decide the figures of one submission, debit them to the ledger, and draft the statement.

    If all figures equal those of a standing submission, that one is returned instead: a second statement with the same
    figures, but a different root, would reveal that some score has changed.
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
    # Build the statement and check it by the aggregator's rules before the debit, so that a failure costs nothing.
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
        ledger: the ledger with the debit.
        is_new: whether the debit is a new last entry of `ledger` that is not on disk yet.
        head: the head of the ledger that the statement has to name.
    """

    ledger: Ledger
    is_new: bool
    head: LedgerHead


def _plan_debit(
    preparation: _Preparation, job: _Job, release: GatedRelease, ledger: Ledger, end: ChainEnd
) -> _Debit:
    """Return the debit of a release. No entry is added without protected figures or for a repeated debit."""
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
            # The statement names the ledger head of that time, so that repeating the release gives the same bytes. If
            # the chain has named a longer ledger since then, a later link must not name a shorter one.
            head = earlier_line.head if earlier_line.number >= end.ledger_length else ledger.head
            return _Debit(ledger, is_new=False, head=head)
    debited = ledger.followed_by(entry, preparation.gate.today_day)
    return _Debit(debited, is_new=True, head=debited.head)


def _list_verdicts(
    preparation: _Preparation, job: _Job, release: GatedRelease
) -> dict[str, object]:
    """Return the content of a result's verdict file."""
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
    """Return whether two results are equal except for their header, day and root over the scores."""
    return (
        replace(earlier, header=later.header, day=later.day, scores_root=later.scores_root) == later
    )


def _put_draft(gate: Gate, statement: Link, verdicts: Mapping[str, object]) -> Submission:
    """Sign and store a draft, or restore a void submission with the same bytes."""
    data = envelope.sign(build_statement(statement), [gate.signer])
    digest = envelope.decode(data).digest
    if not gate.outbox.restore(digest):
        gate.outbox.put_draft(digest, data, verdicts)
    return gate.outbox.get(digest)


def _build_statement(
    preparation: _Preparation, job: _Job, release: GatedRelease, header: Header
) -> ResultPredicate:
    """Build a statement and check it by the rules that the aggregator will apply.

    Raises:
        DisclosureError: the statement breaks a rule.
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
        # The aggregator will check it by the policy that the statement names.
        check_result(statement, scorecard, gate.registry.policy_for(preparation.named_policy))
    except ProtocolError as error:
        raise _explain_refusal(error) from None
    return statement


def find_dataset_statement(outbox: Outbox, commitment: str) -> str:
    """Return the digest of the statement that registered a dataset; `none` if `commitment` is `none`.

    Raises:
        DisclosureError: no such statement is approved or waiting for approval.
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
    """Return the error that explains why the aggregator would refuse a result."""
    if error.code is Code.NOTHING_PUBLISHED:
        return DisclosureError(
            "every figure is suppressed or was not run, so there is nothing to submit",
            "The benchmarks have too few units for the disclosure policy, or too few of them changed since an earlier "
            "release. Run more benchmarks.",
        )
    if error.code is Code.OFF_GRID:
        return DisclosureError(
            f"the site's own disclosure policy rounds to a different grid from the federation's ({error.detail})",
            "Choose another `grid_units` in the site's policy, or have that policy registered with the aggregator.",
        )
    return DisclosureError(
        f"the figures violate the disclosure policy ({error.code}: {error.detail})"
    )
