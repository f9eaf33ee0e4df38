"""`intramural redact helm`: HELM's output folders made fit to be handed on."""

import secrets
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from agent.errors import ConfigError, RedactionError
from agent.keys import derive_key
from agent.redact_options import chosen, engine_options

if TYPE_CHECKING:
    from agent.exchange.helm_redaction.walk import Judges
    from agent.redaction.worker import EngineChoice


@click.command()
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="HELM's output folder, usually benchmark_output.",
)
@click.option("--suite", "suites", multiple=True, help="The suite to redact; may be given several times.")
@click.option("--redact-output", is_flag=True, help="Show nothing of what models answered and thought.")
@click.option("--redact-annotations", is_flag=True, help="Show no text of annotations at all.")
@click.option(
    "--copy-to",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write a new folder. Without it the output folder is replaced, and what is not carried over is deleted.",
)
@click.option("--check", is_flag=True, help="Change nothing; say whether the folder is redacted and as it was written.")
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
    """Redact an output folder of HELM, so that it can be handed on.

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
    from agent.exchange.helm_redaction.redacting import redact_folder
    from agent.exchange.helm_redaction.walk import Options

    options = Options(blank_outputs=redact_output, blank_annotations=redact_annotations)
    manifest = redact_folder(output, suites, wanted.open(), options, wanted.key(), copy_to=copy_to)
    for counted, count in manifest.counts.items():
        click.echo(f"{counted}: {count}")
    for kind, count in manifest.left_out.items():
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
    from agent.exchange.helm_redaction.checking import check_folder
    from agent.exchange.helm_redaction.manifest import read_manifest

    manifest = check_folder(output, wanted.open(read_manifest(output).policy.split()[0]))
    if set(suites) - set(manifest.suites):
        raise RedactionError("the folder does not hold that suite", "Its manifest lists those that it holds.")
    click.echo(f"clean: {len(manifest.files)} files, as they were redacted under {manifest.policy}")


@dataclass(frozen=True, slots=True)
class _Wanted:
    """By which rules and under which key a folder is redacted."""

    policy: str | None
    language: str | None
    level: Literal["default", "strict"] | None

    def open(self, written_under: str = "") -> "Judges":
        """Open the redactors of texts and of names.

        Args:
            written_under: the policy that a manifest names, which counts where no option says otherwise.

        Raises:
            RedactionError: the policy writes what looks like an identifier, so that nobody could check the folder.
        """
        from agent.exchange.helm_redaction.name_judge import open_name_judge
        from agent.exchange.helm_redaction.walk import Judges
        from agent.redaction.engine import open_engine
        from agent.redaction.policy import load_policy

        choice = self._choice(written_under)
        directory = None if choice.directory is None else Path(choice.directory)
        policy = load_policy(choice.policy, directory, choice.language)
        if not {"surrogate", "shift"}.isdisjoint(policy.operators.values()):
            raise RedactionError(
                f"redaction policy {policy.name}: it writes surrogates or moved dates, which no check tells from real",
                "Give a policy that writes tags, such as --policy hipaa_safe_harbor.",
            )
        return Judges(open_engine(choice.policy, directory, language=choice.language), open_name_judge(choice.language))

    def key(self) -> bytes:
        """Return the key of hashed ids and labels: a named site's, or one that nobody keeps."""
        key = self._choice("").key
        return secrets.token_bytes(32) if key is None else derive_key(bytes.fromhex(key), "helm folder")

    def _choice(self, written_under: str) -> "EngineChoice":
        from agent.shipped import shipped

        choice = chosen(self.level, self.language, self.policy)
        asked = (self.level, self.language, self.policy) != (None, None, None) or choice.key is not None
        if not asked and (shipped("policies") / "redaction" / f"{written_under}.yaml").is_file():
            return replace(choice, policy=written_under)
        return choice
