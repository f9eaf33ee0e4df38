"""An output folder that appears only when it is complete, so that a failed attempt does not block the next one."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.errors import ConfigError


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder with mode 0700 that is renamed to `folder` at the end of the `with` block.

    If the block raises, the files are deleted. Files of a killed process are deleted by the next attempt.

    Raises:
        ConfigError: `folder` exists and is not empty (checked before anything is written), or cannot be written.
    """
    folder = folder.absolute()
    growing = folder.with_name(f".{folder.name}.partial")
    try:
        if folder.is_symlink() or (
            folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
        ):
            raise ConfigError(
                f"the folder {folder.name} exists and is not empty", "Name a new folder."
            )
        shutil.rmtree(growing, ignore_errors=True)
        growing.mkdir(mode=0o700, parents=True)
        yield growing
        growing.rename(folder)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigError(
            f"the folder {folder.name} cannot be written ({reason})", "Choose another folder."
        ) from None
    finally:
        shutil.rmtree(growing, ignore_errors=True)
