"""A folder of output that appears when it is complete, so that an attempt that failed is not in the next one's way."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.errors import ConfigError


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield a folder to write into, mode 0700, that takes the name `folder` at the end of the `with` block.

    When the block raises, the files written are deleted. The next attempt deletes those of a killed process.

    Raises:
        ConfigError: `folder` exists and is not empty (told before anything is written), or the disk refuses.
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
