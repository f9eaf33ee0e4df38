"""How long registering takes: `python -m tests.bench.registration_bench 20000`. Prints processor seconds."""

import sys
import tempfile
import time
from pathlib import Path

from agent.disclosure.registration import Registered
from agent.errors import DisclosureError
from tests.agent.disclosure.patients import (
    Ward,
    open_ward,
    patients,
    with_new_pseudonyms,
    write_patients,
)


def main() -> None:
    """Register a first version, one that grew by 2 %, and the same patients under new pseudonyms with as many more."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    step = max(20, count // 50)
    with tempfile.TemporaryDirectory() as folder:
        ward = open_ward(Path(folder) / "site")
        write_patients(ward.site, patients(count))
        measure(ward, "first version")
        write_patients(ward.site, patients(count + step))
        measure(ward, "grown by 2 %")
        write_patients(ward.site, with_new_pseudonyms(patients(count + 2 * step)))
        measure(ward, "renamed and grown by 2 %")
        began = time.process_time()
        ward.gate.ledger()
        print(f"reading the ledger: {time.process_time() - began:.1f} s")


def measure(ward: Ward, what: str) -> None:
    """Register what lies there and print how long it took and what came of it."""
    began = time.process_time()
    try:
        done: Registered | DisclosureError = ward.register()
    except DisclosureError as error:
        done = error
    seconds = time.process_time() - began
    if isinstance(done, Registered):
        ward.approve(done)
        ward.release(done)
        outcome = (
            f"{len(done.candidate.entry.list_persons())} persons, "
            f"{done.candidate.difference or 'no version before'}"
        )
    else:
        outcome = str(done)
    print(f"{what}: {seconds:.1f} s; {outcome}", flush=True)


if __name__ == "__main__":
    main()
