"""Words for how jobs end. They are stored with the job, and name no file, server or text of a record."""

_EXIT_CODES = {
    1: "an unexpected error; the log names the place",
    2: "a setting, an option or a run entry is wrong; see the log",
    3: "a benchmark or its data is wrong; see the log",
    4: "the inference server failed or lacks a feature; repair it, and queue the job again",
    5: "text could not be redacted safely; see the log",
    6: "the disclosure gate refused; see the log",
    7: "the download failed; queue the job again later",
    8: "the store or a key could not be used, as on a full disk; see the log, then queue the job again",
    9: "some instances have no answer or no verdict; see the log, then queue the job again: it asks only for these",
}


def describe_exit(exit_code: int) -> str:
    """Return what a command's exit code means, as a clause; empty for success."""
    if exit_code == 0:
        return ""
    return _EXIT_CODES.get(exit_code, f"it ended with exit code {exit_code}; see the log")


def describe_loss(attempts: int, status: int | None) -> str:
    """Return a sentence about a worker that ended without a word.

    Args:
        attempts: how often the job was started.
        status: the exit status of its last process, negative for a signal; None if it is unknown.
    """
    cause = ""
    if status is not None and status < 0:
        cause = f"; the last one was ended by signal {-status}"
        if status == -9:
            cause += ", which the system sends if memory is short"
    return f"its process vanished {attempts} times before the command ended{cause}"
