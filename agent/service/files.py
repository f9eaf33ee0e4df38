"""The pages as a folder of files, to be read without a server."""

import shutil
from pathlib import Path

from agent.errors import ConfigError
from agent.service.pages import SitePages


def write_pages(pages: SitePages, folder: Path) -> int:
    """Write every page under `folder`, readable by its owner alone; return how many files there are.

    The folder appears when it is complete, not before.

    Raises:
        ConfigError: the folder exists and is not empty, or cannot be written.
    """
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise ConfigError("the folder to export to exists and is not empty", "Name a new folder with --export.")
    growing = folder.with_name(f".{folder.name}.partial")
    count = 0
    try:
        shutil.rmtree(growing, ignore_errors=True)
        growing.mkdir(mode=0o700, parents=True)
        for path, page in pages.everything():
            target = growing / path
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            target.write_bytes(page.content)
            target.chmod(0o600)
            count += 1
        growing.rename(folder)
    except OSError as error:
        raise ConfigError(f"the pages cannot be written ({error.strerror})", "Choose another folder.") from None
    finally:
        shutil.rmtree(growing, ignore_errors=True)
    return count
