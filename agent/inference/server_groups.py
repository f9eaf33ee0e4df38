"""Group work by the servers that it needs: groups use different servers and so can be carried out at once. Pure."""

from collections.abc import Collection, Sequence

from agent.inference.server_load import identify_host


def group_by_server(addresses: Sequence[Collection[str]]) -> list[list[int]]:
    """Return the positions of the pieces of work in each group, in their order. Work on a common server is together.

    Args:
        addresses: the addresses of the servers of each piece of work. Servers are told apart by host and port.
    """
    groups: list[list[int]] = []
    hosts_by_group: list[set[str]] = []
    for position, urls in enumerate(addresses):
        joined = [position]
        joined_hosts = set(map(identify_host, urls))
        apart: list[list[int]] = []
        apart_hosts: list[set[str]] = []
        for group, hosts in zip(groups, hosts_by_group, strict=True):
            if hosts & joined_hosts:
                joined += group
                joined_hosts |= hosts
            else:
                apart.append(group)
                apart_hosts.append(hosts)
        groups = [*apart, sorted(joined)]
        hosts_by_group = [*apart_hosts, joined_hosts]
    return sorted(groups)
