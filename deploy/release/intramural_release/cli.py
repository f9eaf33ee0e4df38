"""The command line of the release tools: `python -m intramural_release COMMAND`."""

import platform
from pathlib import Path
from typing import Final

import click

from intramural_release.errors import ReleaseError
from intramural_release.variants import PYTHONS

_FOLDER: Final = click.Path(file_okay=False, path_type=Path)
_FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)
_PATH: Final = click.Path(exists=True, path_type=Path)


class _Group(click.Group):
    """Prints the tools' own errors as message and advice."""

    def invoke(self, context: click.Context) -> object:
        try:
            return super().invoke(context)
        except ReleaseError as error:
            click.secho(f"error: {error}", fg="red", err=True)
            if error.advice:
                click.echo(error.advice, err=True)
            context.exit(1)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Make locks, distributions, kits and signed checksums of a release."""


@cli.command("locks")
@click.option(
    "--upgrade", is_flag=True, help="Take the newest versions that pyproject.toml allows."
)
@click.argument("names", nargs=-1, metavar="[VARIANT]...")
def make_locks_command(names: tuple[str, ...], upgrade: bool) -> None:
    """Write the locks in deploy/locks: all, or those of the variants named. Needs a package index."""
    from intramural_release.make_locks import make_locks

    for path in make_locks(names, upgrade=upgrade):
        click.echo(path.name)


@cli.command("build")
@click.option(
    "--out", type=_FOLDER, default=Path("dist"), show_default=True, help="Folder of the result."
)
def build_command(out: Path) -> None:
    """Build wheels and source distributions of the project and of the steward's tool."""
    from intramural_release.distributions import build_distributions, read_epoch
    from intramural_release.variants import PROJECTS, ROOT

    epoch = read_epoch(ROOT)
    for project in PROJECTS.values():
        for path in build_distributions(project.parent, out, epoch):
            click.echo(path)


@cli.command("bills")
@click.option(
    "--out", type=_FOLDER, default=Path("dist"), show_default=True, help="Folder of the result."
)
def bills_command(out: Path) -> None:
    """Write a bill of materials for each variant and Python version, from the locks."""
    from intramural_release.distributions import read_epoch
    from intramural_release.lock_files import parse_lock
    from intramural_release.sbom import write_bill
    from intramural_release.variants import ROOT, VARIANTS, locate_lock, read_project

    epoch = read_epoch(ROOT)
    out.mkdir(parents=True, exist_ok=True)
    for variant in VARIANTS:
        version = read_project(variant.project)["version"]
        for python in PYTHONS:
            lock = locate_lock(variant.name, python)
            pins = parse_lock(lock.read_text("utf-8"), lock.name)
            path = out / f"{variant.project}-{version}-{lock.stem}.cdx.json"
            path.write_text(write_bill(variant.project, version, pins, {}, epoch), "utf-8")
            click.echo(path)


@cli.command("audit")
@click.option(
    "--python",
    default=PYTHONS[-1],
    type=click.Choice(PYTHONS),
    show_default=True,
    help="Whose locks.",
)
def audit_command(python: str) -> None:
    """Ask a database of known vulnerabilities about every locked package. Needs a network."""
    from intramural_release import audit
    from intramural_release.variants import VARIANTS, locate_lock

    is_safe = True
    for variant in VARIANTS:
        if variant.name == "test":
            continue
        result = audit.audit_lock(locate_lock(variant.name, python))
        for line in result.vulnerable:
            click.echo(f"{variant.name}: {line}")
        if result.unknown:
            click.echo(f"{variant.name}: not audited: {', '.join(result.unknown)}")
        if result.vulnerable or result.unknown:
            is_safe = False
        else:
            click.echo(f"{variant.name}: no known vulnerability")
    if not is_safe:
        raise ReleaseError(
            "not every package is known to be free of faults", "Raise the versions named above."
        )


@cli.command("sign")
@click.argument("folder", type=_FOLDER)
@click.option(
    "--key", type=_FILE, required=True, help="SSH key, or the public half of one on a token."
)
def sign_command(folder: Path, key: Path) -> None:
    """Write FOLDER/SHA256SUMS over every file in FOLDER, and sign it."""
    from intramural_release.checksums import sign_file, write_checksums

    click.echo(sign_file(write_checksums(folder), key))


@cli.command("verify")
@click.argument("folder", type=_FOLDER)
@click.option("--signers", type=_FILE, required=True, help="File of allowed signers.")
def verify_command(folder: Path, signers: Path) -> None:
    """Verify the signature of FOLDER/SHA256SUMS, and every file in FOLDER."""
    from intramural_release.checksums import LIST, check_files, verify_signature

    verify_signature(folder / LIST, signers)
    check_files(folder)
    click.echo("Signature and files are valid.")


@cli.command("kit")
@click.option(
    "--extras", default="", help="Extras, with commas; demo-model is the demo's language model."
)
@click.option(
    "--pythons", default="3.11,3.12,3.13", show_default=True, help="Python versions, with commas."
)
@click.option(
    "--machine",
    type=click.Choice(["x86_64", "aarch64"]),
    default=platform.machine(),
    show_default=True,
    help="Processor of the machines without a network.",
)
@click.option(
    "--dataset", "datasets", multiple=True, metavar="ID=PATH", help="Data of a public benchmark."
)
@click.option("--model", "models", multiple=True, type=_PATH, help="Weights: a file or a folder.")
@click.option("--image", "images", multiple=True, type=_FILE, help="Archive of a container image.")
@click.option("--key", type=_FILE, help="SSH key that signs the kit.")
@click.option(
    "--out", type=_FOLDER, default=Path("dist"), show_default=True, help="Folder of the result."
)
def kit_command(
    extras: str,
    pythons: str,
    machine: str,
    datasets: tuple[str, ...],
    models: tuple[Path, ...],
    images: tuple[Path, ...],
    key: Path | None,
    out: Path,
) -> None:
    """Build an air-gap kit. Needs a package index."""
    from intramural_release.kit import KitOrder, build_kit

    order = KitOrder(
        extras=tuple(sorted({extra for extra in extras.split(",") if extra})),
        pythons=_check_pythons(pythons),
        machine=machine,
        datasets={_split(text)[0]: Path(_split(text)[1]) for text in datasets},
        models=models,
        images=images,
        key=key,
    )
    kit = build_kit(order, out)
    click.echo(kit.archive)
    if key is None:
        click.echo(
            "The kit is not signed. Write down its digest, and carry it by another way than the kit:"
        )
        click.echo(f"  sh install.sh --digest {kit.digest}")


def _check_pythons(text: str) -> tuple[str, ...]:
    pythons = tuple(sorted({python for python in text.split(",") if python}))
    unknown = sorted(set(pythons) - set(PYTHONS))
    if unknown or not pythons:
        raise click.UsageError(f"--pythons takes some of {', '.join(PYTHONS)}")
    return pythons


def _split(text: str) -> tuple[str, str]:
    name, separator, path = text.partition("=")
    if not separator or not name or not path:
        raise click.UsageError(f"--dataset takes ID=PATH, not {text!r}")
    return name, path


def main() -> None:
    """Run the command line."""
    cli()
