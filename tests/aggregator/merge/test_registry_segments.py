"""Revocations, departures and changes of policy count from the version that says so, found without parsing each one."""

from dataclasses import replace

from aggregator.merge.board_model import State
from aggregator.merge.registry_segments import date_changes, divide_versions
from aggregator.merge.table import build_board
from protocol.registry import Registry, build_registry
from tests.aggregator.merge.results import STRICT, WARD, Sites


def versions_of(*registries: Registry) -> tuple[list[bytes], list[Registry]]:
    numbered = [replace(registry, version=number) for number, registry in enumerate(registries, 1)]
    return [build_registry(registry) for registry in numbered], numbered


def test_versions_that_only_add_are_one_segment() -> None:
    sites = Sites()
    sites.add("pooled", count=2)
    first = sites.registry()
    sites.add("named")
    payloads, registries = versions_of(first, sites.registry())
    (segment,) = divide_versions(payloads, registries[-1])
    assert segment.registry is registries[-1]


def test_a_revocation_a_departure_and_a_new_floor_each_begin_a_segment() -> None:
    sites = Sites()
    leaves, thief = sites.add("pooled", count=2)
    first = sites.registry()
    revoking = sites.registry(revoked={thief: 3})
    gone = replace(revoking, sites={thief: revoking.sites[thief]})
    wider = replace(STRICT, name="wider", pooled_sites=5)
    stricter = replace(
        gone, policy_floor=wider.digest, policies={**gone.policies, wider.digest: wider}
    )
    payloads, registries = versions_of(first, first, revoking, gone, stricter)
    segments = divide_versions(payloads, registries[-1])
    assert [segment.first_version for segment in segments] == [1, 3, 4, 5]
    assert [leaves in segment.registry.sites for segment in segments] == [True, True, False, False]
    revoked = [segment.registry.sites[thief].keys[0].revoked_from for segment in segments]
    assert revoked == [None, 3, 3, 3]
    floors = [
        segment.registry.policies[segment.registry.policy_floor].pooled_sites
        for segment in segments
    ]
    assert floors == [3, 3, 3, 5]
    assert [change.log_size for change in date_changes(segments, [1, 2, 2, 3, 5])] == [0, 3, 4, 4]


def test_after_a_revocation_the_next_step_leaves_the_thief_out() -> None:
    """With the newest version alone the thief would be in every later step, and void each of them for good."""
    sites = Sites()
    thief, *others = sites.add("pooled", count=9)
    for site in (thief, *others[:2]):
        sites.send(site, 600)
    before, after = sites.registry(), sites.registry(revoked={thief: 0})
    for site in others[2:]:
        sites.send(site, 700)
    payloads, registries = versions_of(before, after)
    changes = date_changes(divide_versions(payloads, registries[-1]), [1, 1, 1, 2, 2, 2, 2, 2, 2])
    cells = []
    for size in (3, 4, 5, 6, 9):
        results = [result for result in sites.results if result.position < size]
        dated = [change for change in changes if change.log_size <= size]
        cells.append(
            build_board(results, registries[-1], changes=dated).tables[0].rows[0].cells[WARD.key]
        )
    assert [cell.state for cell in cells] == [State.WITHHELD] * 3 + [State.VALUE] * 2
    assert [cell.sites for cell in cells] == [0, 0, 0, 5, 8]


def test_an_earlier_revocation_of_the_same_key_begins_a_segment() -> None:
    """Their number stays the same. Without a segment the board would be made as if the site had never been there."""
    sites = Sites()
    sites.add("pooled", count=2)
    thief = next(iter(sites.registry().sites))
    payloads, registries = versions_of(
        sites.registry(revoked={thief: 50}), sites.registry(revoked={thief: 0})
    )
    segments = divide_versions(payloads, registries[-1])
    assert [segment.first_version for segment in segments] == [1, 2]
    assert [segment.registry.sites[thief].keys[0].revoked_from for segment in segments] == [50, 0]


def test_a_site_that_is_dropped_while_another_is_enrolled_begins_a_segment() -> None:
    sites = Sites()
    leaves, stays = sites.add("pooled", count=2)
    both = sites.registry()
    sites.add("pooled")
    three = sites.registry()
    exchanged = replace(
        three, sites={site: entry for site, entry in three.sites.items() if site != leaves}
    )
    payloads, registries = versions_of(both, exchanged)
    segments = divide_versions(payloads, registries[-1])
    assert [segment.first_version for segment in segments] == [1, 2]
    assert [leaves in segment.registry.sites for segment in segments] == [True, False]
    assert all(stays in segment.registry.sites for segment in segments)


def test_a_key_that_a_later_version_drops_still_stands_before_it() -> None:
    sites = Sites()
    (site,) = sites.add("pooled", count=1)
    whole = sites.registry()
    fewer = replace(
        whole, sites={site: replace(whole.sites[site], keys=whole.sites[site].keys[1:])}
    )
    payloads, registries = versions_of(whole, fewer)
    segments = divide_versions(payloads, registries[-1])
    keys = len(whole.sites[site].keys)
    assert [len(segment.registry.sites[site].keys) for segment in segments] == [keys, keys - 1]
