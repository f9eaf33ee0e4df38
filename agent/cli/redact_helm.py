"""`intramural redact helm`: HELM's output folders made fit to be handed on."""

import secrets
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import click

from agent.cli.redact_options import chosen, engine_options
from agent.errors import ConfigError, RedactionError
from agent.keys import derive_key

if TYPE_CHECKING:
    from agent.exchange.helm.redaction.walk import Judges
    from agent.redaction.files.worker import EngineChoice
    from agent.redaction.policy.policy import RedactionPolicy

_LEAST: Final = "hipaa_safe_harbor"  # below which no folder is called clean, unless a policy is given


@click.command()
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="HELM's output folder, usually benchmark_output.",
)
@click.option("--suite", "suites", multiple=True, help="The suite to redact; may be repeated.")
@click.option("--redact-output", is_flag=True, help="Leave out all answers and reasoning of models.")
@click.option("--redact-annotations", is_flag=True, help="Leave out all text of annotations.")
@click.option(
    "--copy-to",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write a new folder. Otherwise the output folder is replaced, and everything not carried over is deleted.",
)
@click.option("--check", is_flag=True, help="Change nothing; check that the folder is redacted and unchanged.")
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
    level: Literal["default", "strict"] | None,
) -> None:
    """Redact an output folder of HELM so that it can be shared.

    Prompts, inputs, references, explanations and errors become "[redacted]", as by MedHELM's scripts. What models and
    judges wrote is redacted under the policy; ids become keyed hashes, the same in all files. Only files and fields
    that HELM is known to write are carried over: raw data sets, caches, logs, lists of tokens, times and extra data are
    not. redaction.json lists every file with its digest. HELM's other folders, such as prod_env, are not looked at.
    """
    wanted = _Wanted(policy, language, level)
    if check:
        if copy_to or redact_output or redact_annotations:
            raise ConfigError("--check changes nothing", "Give --output and nothing else with it.")
        _check(output, suites, wanted)
        return
    if not suites:
        raise ConfigError("no suite is named", "Give --suite, as helm-run had it.")
    from agent.exchange.helm.redaction.redacting import redact_folder
    from agent.exchange.helm.redaction.walk import Options

    options = Options(blank_outputs=redact_output, blank_annotations=redact_annotations)
    manifest, tally = redact_folder(output, suites, wanted.open(), options, wanted.key(), copy_to=copy_to)
    for counted, count in manifest.counts.items():
        click.echo(f"{counted}: {count}")
    for kind, count in sorted((+Counter(tally.left_out)).items()):
        click.echo(f"left out or not shown: {count} {kind}")
    click.echo(f"{len(manifest.files)} files written, listed in redaction.json; look again with --check")
    if (output.absolute().parent / "prod_env").exists():
        click.echo("Beside the folder lies prod_env, which keeps every prompt and answer. Do not hand it on.", err=True)
    if manifest.withheld:
        told = ", ".join(f"{count} ({reason})" for reason, count in manifest.withheld.items())
        raise RedactionError(
            f"texts that could not be judged were withheld: {told}", "The folder is written; they are not in it."
        )


def _check(output: Path, suites: tuple[str, ...], wanted: "_Wanted") -> None:
    """Check a folder under what is asked for, and under what its manifest claims: a manifest lowers nothing."""
    from agent.exchange.helm.redaction.checking import check_folder
    from agent.exchange.helm.redaction.manifest import read_manifest

    claimed = read_manifest(output).policy
    judges = [wanted.open()]
    if not wanted.is_said and not wanted.takes_enough():
        judges.append(wanted.open(_LEAST))
    weaker = False
    if shipped_as := wanted.shipped_policy(claimed):
        weaker = not wanted.takes_enough(shipped_as)
        if claimed not in {one.texts.policy for one in judges}:
            judges.append(wanted.open(shipped_as))
    under = ", ".join(one.texts.policy for one in judges)
    if weaker:
        click.echo(f"The manifest names {claimed}, which takes less than {_LEAST}. Checked under {under}.", err=True)
    manifest = check_folder(output, *judges)
    if set(suites) - set(manifest.suites):
        raise RedactionError("the folder does not hold that suite", "Its manifest lists those that it holds.")
    click.echo(f"clean: {len(manifest.files)} files, as they were redacted under {claimed}; checked under {under}")


@dataclass(frozen=True, slots=True)
class _Wanted:
    """By which rules and under which key a folder is redacted."""

    policy: str | None
    language: str | None
    level: Literal["default", "strict"] | None

    @property
    def is_said(self) -> bool:
        """Whether the command line says how much is taken."""
        return (self.level, self.language, self.policy) != (None, None, None)

    def open(self, shipped_policy: str | None = None) -> "Judges":
        """Open the redactors of texts and of names.

        Args:
            shipped_policy: one of the program's own, whatever the options or the site say.

        Raises:
            RedactionError: the policy writes what looks like an identifier, so that nobody could check the folder.
        """
        from agent.exchange.helm.redaction.name_judge import open_name_judge
        from agent.exchange.helm.redaction.walk import Judges
        from agent.redaction.engine import open_engine

        choice = self._choice(shipped_policy)
        directory = None if choice.directory is None else Path(choice.directory)
        policy = self._load(choice)
        if policy.keyed_operators:
            raise RedactionError(
                f"redaction policy {policy.name}: it writes surrogates or moved dates, which no check tells from real",
                "Give a policy that writes tags, such as --policy hipaa_safe_harbor.",
            )
        return Judges(open_engine(choice.policy, directory, language=choice.language), open_name_judge(choice.language))

    def takes_enough(self, shipped_policy: str | None = None) -> bool:
        """Whether a policy takes all that HIPAA's Safe Harbor asks for: that in force, or a shipped one."""
        policy, least = self._load(self._choice(shipped_policy)), self._load(self._choice(_LEAST))
        return (
            set(least.entities) <= set(policy.entities)
            and policy.threshold <= least.threshold
            and not policy.allow
            and "shipped" in policy.models
            and set(least.languages) <= set(policy.languages)
        )

    def shipped_policy(self, claimed: str) -> str | None:
        """Return the name of the program's own policy that a manifest names with its version, if it is one."""
        from agent.io.packaged import shipped

        name = claimed.partition(" ")[0]
        if not (shipped("policies") / "redaction" / f"{name}.yaml").is_file():
            return None
        policy = self._load(self._choice(name))
        return name if f"{policy.name} {policy.version}" == claimed else None

    def key(self) -> bytes:
        """Return the key of hashed ids and labels: a named site's, or one that nobody keeps."""
        key = self._choice().key
        return secrets.token_bytes(32) if key is None else derive_key(bytes.fromhex(key), "helm folder")

    @staticmethod
    def _load(choice: "EngineChoice") -> "RedactionPolicy":
        from agent.redaction.policy.policy import load_policy

        return load_policy(choice.policy, None if choice.directory is None else Path(choice.directory), choice.language)

    def _choice(self, shipped_policy: str | None = None) -> "EngineChoice":
        choice = chosen(self.level, self.language, self.policy)
        return (
            choice if shipped_policy is None else replace(choice, policy=shipped_policy, directory=None, language=None)
        )
