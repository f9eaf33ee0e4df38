"""The command `redact helm`: redact HELM's output folders so that they can be shared."""

import secrets
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from agent.cli.redact_options import chosen, engine_options
from agent.errors import ConfigError, RedactionError
from agent.keys import derive_key

if TYPE_CHECKING:
    from agent.exchange.helm.redaction.walk import FolderRedactors
    from agent.redaction.files.worker import EngineChoice
    from agent.redaction.policy.policy import Level, RedactionPolicy

# The weakest policy under which `--check` reports a folder as clean, unless a policy is given.
_WEAKEST_POLICY: Final = "hipaa_safe_harbor"


@click.command()
@click.option(
    "--output",
    "--output-path",
    "-o",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="HELM's output folder, usually benchmark_output.",
)
@click.option("--suite", "suites", multiple=True, help="The suite to redact; may be repeated.")
@click.option(
    "--redact-output", is_flag=True, help="Leave out all answers and reasoning of models."
)
@click.option("--redact-annotations", is_flag=True, help="Leave out all text of annotations.")
@click.option(
    "--copy-to",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write a new folder. Otherwise the output folder is replaced, and everything that is not copied is deleted.",
)
@click.option(
    "--check", is_flag=True, help="Change nothing; check that the folder is redacted and unchanged."
)
@engine_options
def helm(
    output: Path,
    suites: tuple[str, ...],
    redact_output: bool,
    redact_annotations: bool,
    copy_to: Path | None,
    check: bool,
    policy: str | None,
    language: str | None,
    level: "Level | None",
) -> None:
    """Redact an output folder of HELM so that it can be shared.

    Prompts, inputs, references, explanations and errors become "[redacted]", as with MedHELM's scripts. Texts written
    by models and judges are redacted under the policy. Ids become keyed hashes, the same in all files. Only files and
    fields that HELM is known to write are copied. Raw data sets, caches, logs, token lists, times and HELM's
    extra data are left out. redaction.json lists every file with its digest. HELM's other folders, such as prod_env,
    are ignored.
    """
    chosen_options = _RedactionOptions(policy, language, level)
    if check:
        if copy_to or redact_output or redact_annotations:
            raise ConfigError(
                "--check cannot be combined with --copy-to, --redact-output or --redact-annotations",
                "Redact the folder first, then check it.",
            )
        _check(output, suites, chosen_options)
        return
    if not suites:
        raise ConfigError("no suite is named", "Give --suite with the value passed to helm-run.")
    from agent.exchange.helm.redaction.redacting import redact_folder
    from agent.exchange.helm.redaction.walk import Options

    options = Options(blank_outputs=redact_output, blank_annotations=redact_annotations)
    manifest, tally = redact_folder(
        output, suites, chosen_options.open(), options, chosen_options.key(), copy_to=copy_to
    )
    for counted, count in manifest.counts.items():
        click.echo(f"{counted}: {count}")
    for kind, count in sorted((+Counter(tally.left_out)).items()):
        click.echo(f"left out or not shown: {count} {kind}")
    click.echo(
        f"{len(manifest.files)} files written, listed in redaction.json; check them with --check"
    )
    if (output.absolute().parent / "prod_env").exists():
        click.echo(
            "The folder prod_env next to this one contains every prompt and answer. Do not share it.",
            err=True,
        )
    if manifest.withheld:
        reasons = ", ".join(f"{count} ({reason})" for reason, count in manifest.withheld.items())
        raise RedactionError(
            f"texts that could not be redacted safely were withheld: {reasons}",
            "The folder was written without them.",
        )


def _check(output: Path, suites: tuple[str, ...], chosen_options: "_RedactionOptions") -> None:
    """Check a folder under the requested policy, and under the shipped one that its manifest names.

    The manifest cannot weaken the check.
    """
    from agent.exchange.helm.redaction.checking import check_folder
    from agent.exchange.helm.redaction.manifest import read_manifest

    claimed = read_manifest(output).policy
    redactors = [chosen_options.open()]
    if not chosen_options.names_a_policy and not chosen_options.meets_safe_harbor():
        redactors.append(chosen_options.open(_WEAKEST_POLICY))
    weaker = False
    if shipped_as := chosen_options.shipped_policy(claimed):
        weaker = not chosen_options.meets_safe_harbor(shipped_as)
        if claimed not in {redactor.texts.policy for redactor in redactors}:
            redactors.append(chosen_options.open(shipped_as))
    under = ", ".join(redactor.texts.policy for redactor in redactors)
    if weaker:
        click.echo(
            f"The manifest names {claimed}, which removes less than {_WEAKEST_POLICY}. Checked under {under}.",
            err=True,
        )
    manifest = check_folder(output, *redactors)
    if set(suites) - set(manifest.suites):
        raise RedactionError(
            "the folder does not contain that suite",
            "Its manifest lists the suites that it contains.",
        )
    click.echo(
        f"clean: {len(manifest.files)} files, unchanged since redaction under {claimed}; checked under {under}"
    )


@dataclass(frozen=True, slots=True)
class _RedactionOptions:
    """The policy options and the key for redacting a folder."""

    policy: str | None
    language: str | None
    level: "Level | None"

    @property
    def names_a_policy(self) -> bool:
        """Return whether the command line names a policy, a language or a level."""
        return (self.level, self.language, self.policy) != (None, None, None)

    def open(self, shipped_policy: str | None = None) -> "FolderRedactors":
        """Open the redactors of texts and of names.

        Args:
            shipped_policy: a policy shipped with the program; overrides the one chosen by the options or the site.

        Raises:
            RedactionError: the policy writes surrogates, which a check cannot distinguish from identifiers.
        """
        from agent.exchange.helm.redaction.name_filter import open_name_filter
        from agent.exchange.helm.redaction.walk import FolderRedactors
        from agent.redaction.engine import open_engine

        choice = self._choice(shipped_policy)
        directory = None if choice.directory is None else Path(choice.directory)
        policy = self._load(choice)
        if policy.keyed_operators:
            raise RedactionError(
                f"redaction policy {policy.name}: it writes surrogates or shifted dates, "
                "which a check cannot distinguish from real identifiers",
                "Name a policy that writes tags, such as --policy hipaa_safe_harbor.",
            )
        return FolderRedactors(
            open_engine(choice.policy, directory, language=choice.language),
            open_name_filter(choice.language),
        )

    def meets_safe_harbor(self, shipped_policy: str | None = None) -> bool:
        """Return whether the policy in force, or a shipped one, removes everything that `_WEAKEST_POLICY` removes."""
        policy, least = (
            self._load(self._choice(shipped_policy)),
            self._load(self._choice(_WEAKEST_POLICY)),
        )
        return (
            set(least.entities) <= set(policy.entities)
            and policy.threshold <= least.threshold
            and policy.model_odds <= least.model_odds
            and not policy.allow
            and "shipped" in policy.models
            and set(least.read_languages) <= set(policy.read_languages)
        )

    def shipped_policy(self, claimed: str) -> str | None:
        """Return the name of the shipped policy that a manifest names; None if it names another policy or version."""
        from agent.io.packaged import shipped

        name = claimed.partition(" ")[0]
        if not (shipped("policies") / "redaction" / f"{name}.yaml").is_file():
            return None
        policy = self._load(self._choice(name))
        return name if f"{policy.name} {policy.version}" == claimed else None

    def key(self) -> bytes:
        """Return the key for hashing ids and labels: derived from the site's key, or random if there is no site."""
        key = self._choice().key
        return (
            secrets.token_bytes(32)
            if key is None
            else derive_key(bytes.fromhex(key), "helm folder")
        )

    @staticmethod
    def _load(choice: "EngineChoice") -> "RedactionPolicy":
        from agent.redaction.policy.policy import load_policy

        return load_policy(
            choice.policy,
            None if choice.directory is None else Path(choice.directory),
            choice.language,
        )

    def _choice(self, shipped_policy: str | None = None) -> "EngineChoice":
        choice = chosen(self.level, self.language, self.policy)
        return (
            choice
            if shipped_policy is None
            else replace(choice, policy=shipped_policy, directory=None, language=None)
        )
