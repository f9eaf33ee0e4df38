"""Write a suite into HELM's output folder, next to the suites of HELM and those of other runs.

    DIR/runs/<suite>/<run>/                 as in `export.py`
    DIR/runs/<suite>/model_metadata.yaml    for `helm-summarize --local-path DIR/runs/<suite>`
    DIR/runs/<suite>/schema_intramural.yaml for `helm-summarize --schema-path`

The run folders of an earlier command are replaced. Every other file of the suite stays, for example those that
helm-summarize added.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from agent.errors import ConfigError
from agent.exchange.helm.export import export_helm
from agent.exchange.helm.own_record import RECORD
from agent.exchange.helm.redaction.layout import MANIFEST
from agent.io.progress import Progress
from agent.site.directory import Site

_SHARED_FILES = ("model_metadata.yaml", "schema_intramural.yaml")


def check_output_folder(output: Path, suite: str) -> None:
    """Check that the suite can be written into an output folder of HELM, before anything is asked.

    Raises:
        ConfigError: the folder cannot be written, or contains a run of this suite that HELM made, or a file that would
            be overwritten.
    """
    target = output / "runs" / suite
    if target.is_symlink():
        raise ConfigError(
            f"{target} is a link", "Choose another --output-path, or another --suite."
        )
    folders = list(_iter_run_folders(target))
    if folders and os.path.lexists(output / MANIFEST):
        raise ConfigError(
            f"{output} was redacted with `intramural redact helm`, so its runs can no longer be replaced",
            f"Choose another --output-path, or delete {target} and {output / MANIFEST}: the suite is then written "
            "again from this site.",
        )
    for folder in folders:
        if not (folder / RECORD).is_file():
            raise ConfigError(
                f"{target} contains runs that this program did not write",
                "Choose another --output-path or --suite; `intramural import helm` shows HELM's runs next to yours.",
            )
    for name in _SHARED_FILES:
        # Without runs of an earlier command, the file is somebody else's.
        if not folders and os.path.lexists(target / name):
            raise ConfigError(
                f"{target} contains a file {name} that this program did not write",
                "Choose another --output-path or --suite, or move the file away.",
            )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _explain(target, error) from None
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise ConfigError(f"{target} cannot be written", "Choose another --output-path.")


def write_output_folder(site: Site, output: Path, suite: str, progress: Progress) -> int:
    """Write the redacted runs of a suite into `output`, replacing those that an earlier command wrote there.

    Returns:
        The number of instances written.

    Raises:
        ConfigError: as `check_output_folder`.
    """
    check_output_folder(output, suite)
    target = output / "runs" / suite
    growing = output / "runs" / f".{suite}.partial"
    try:
        shutil.rmtree(growing, ignore_errors=True)
        growing.mkdir(mode=0o700)
        count = export_helm(site, suite, growing, reveal=False, progress=progress)
        target.mkdir(mode=0o700, exist_ok=True)
        for folder in list(_iter_run_folders(target)):
            shutil.rmtree(folder)
        for folder in (growing / "runs" / suite).iterdir():
            folder.rename(target / folder.name)
        for name in _SHARED_FILES:
            (growing / name).replace(target / name)
    except OSError as error:
        raise _explain(target, error) from None
    finally:
        shutil.rmtree(growing, ignore_errors=True)
    return count


def _iter_run_folders(target: Path) -> Iterator[Path]:
    """Yield the folders of a suite that contain a run."""
    if not target.is_dir():
        return
    for path in sorted(target.iterdir()):
        if path.is_dir() and not path.is_symlink() and os.path.lexists(path / "run_spec.json"):
            yield path


def _explain(target: Path, error: OSError) -> ConfigError:
    reason = error.strerror or type(error).__name__
    return ConfigError(f"{target} cannot be written ({reason})", "Choose another --output-path.")
