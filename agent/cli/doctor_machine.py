"""The checks of `intramural doctor` on this machine: clock, disk, copies, and whether the queue is worked off."""

from collections.abc import Iterator

from agent.cli.checks import Check, run_check
from agent.io.disk_room import find_room, is_nearly_full
from agent.io.wording import format_count, format_size
from agent.site.directory import Site
from agent.store import format_time
from agent.store.clock import DAY_S


def check_machine(site: Site) -> Iterator[Check]:
    """Check the clock, the disk, copies and the queue."""
    yield run_check("clock", lambda: _check_clock(site))
    yield _check_disk(site)
    yield run_check("copies", lambda: _check_copies(site))
    yield run_check("restored", lambda: _check_restored(site))
    yield run_check("queue", lambda: _check_queue(site))


def _check_clock(site: Site) -> Check:
    with site.store() as store:
        store.clock.check()
        leap_from = store.clock.find_leap()
    if leap_from is not None:
        return Check(
            "clock",
            "warning",
            f"this site was not used from {format_time(leap_from)} on, so nothing but the clock says how old its texts "
            "are, and none is purged by its age",
            "`intramural clock show` says how to confirm the clock once.",
        )
    return Check("clock", "ok", "agrees with the times that this site has seen")


def _check_disk(site: Site) -> Check:
    room = find_room(site.directory)
    finding = f"{format_size(room.free)} of {format_size(room.total)} are free"
    if is_nearly_full(room):
        return Check(
            "disk",
            "warning",
            finding,
            "Make room: a run whose disk is full ends, and resumes when it is started again.",
        )
    return Check("disk", "ok", finding)


def _check_copies(site: Site) -> Check:
    with site.store() as store:
        known, now = store.copies.read_all(), store.clock.read().now
    complete = [copy for copy in known if copy.is_finished]
    if not complete:
        return Check("copies", "ok", "no copy made with `intramural backup` is known")
    age = format_count(max(0, now - complete[-1].made_at) // DAY_S, "day")
    holding = sum(copy.holds_deleted_texts for copy in known)
    finding = (
        f"{len(complete)} known, the newest {age} old; {holding} hold texts that were deleted since"
    )
    return Check("copies", "ok", finding)


def _check_restored(site: Site) -> Check:
    from agent.disclosure.restored_site import describe_restoration, find_open_restoration

    with site.store() as store:
        restoration = find_open_restoration(site, store)
    if restoration is None:
        return Check("restored", "ok", "no restore stands between this site and submitting")
    return Check(
        "restored",
        "warning",
        f"{describe_restoration(restoration)}; it submits nothing",
        "`intramural reset show` compares it with the aggregator's log.",
    )


def _check_queue(site: Site) -> Check:
    from agent.jobs.dispatcher import is_dispatched

    with site.store() as store:
        jobs = len(store.jobs.list_open())
    if is_dispatched(site):
        return Check(
            "queue", "ok", f"is worked off; {format_count(jobs, 'job')} running or waiting"
        )
    if jobs:
        return Check(
            "queue",
            "warning",
            f"{format_count(jobs, 'job')} waiting, and nothing works off the queue",
            "Start `intramural serve` or `intramural jobs dispatch`.",
        )
    return Check("queue", "ok", "empty; nothing works it off now")
