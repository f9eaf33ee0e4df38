"""Write the pages as a folder of files that can be read without a server."""

from pathlib import Path

from agent.io.new_folder import new_folder
from agent.io.progress import Progress
from agent.service.pages import SitePages


def write_pages(pages: SitePages, folder: Path, progress: Progress) -> int:
    """Write every page to the new `folder`, readable by its owner only; return the number of files.

    Raises:
        ConfigError: the folder exists and is not empty, or cannot be written.
    """
    count = 0
    with new_folder(folder) as growing:
        progress.begin("pages", pages.count_pages())
        for path, page in pages.draw_all():
            target = growing / path
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            target.write_bytes(page.content)
            target.chmod(0o600)
            count += 1
            progress.advance(path.endswith(".html"))
        progress.end()
    return count
