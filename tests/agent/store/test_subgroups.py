"""Subgroups come back by the places of their instances."""

from hypothesis import given
from hypothesis import strategies as st

from agent.store.subgroups import SubgroupLabels, decode_subgroups

INSTANCES = st.lists(
    st.dictionaries(st.sampled_from(["sex", "ward", "site"]), st.text(max_size=3)), max_size=8
)


@given(INSTANCES)
def test_every_instance_has_its_own_values_and_none_where_it_has_none(
    instances: list[dict[str, str]],
):
    labels = SubgroupLabels()
    for subgroups in instances:
        labels.add(subgroups)
    expected = {name: [one.get(name) for one in instances] for one in instances for name in one}
    assert labels.by_position() == decode_subgroups(labels.encode()) == expected
