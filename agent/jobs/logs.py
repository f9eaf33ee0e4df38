"""Read the logs of jobs."""

import os

from agent.jobs.job_files import JobFiles
from agent.site.directory import Site

_MAX_BYTES = 1_000_000


def read_log(site: Site, job_id: str, max_bytes: int = _MAX_BYTES) -> str:
    """Return the end of a job's log; empty if there is none.

    Args:
        site: the site.
        job_id: the id of a job in the store.
        max_bytes: maximum length; a longer log begins at a later line.
    """
    return read_log_from(site, job_id, -max_bytes)[0]


def read_log_from(site: Site, job_id: str, start: int) -> tuple[str, int]:
    """Return a job's log from a position, and the position of its end.

    Args:
        site: the site.
        job_id: the id of a job in the store.
        start: bytes from the beginning; if negative, at most this many bytes before the end, from a whole line on.
    """
    try:
        with JobFiles(site.jobs).log(job_id).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            begin = start if start >= 0 else max(0, size + start)
            file.seek(begin)
            content = file.read()
    except OSError:
        return "", max(0, start)
    end = begin + len(content)
    if start < 0 < begin:
        content = content.partition(b"\n")[2]
    return content.decode("utf-8", "replace"), end
