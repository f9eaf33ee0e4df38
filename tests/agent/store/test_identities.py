"""Keys that stand for identifiers of patients."""

from agent.store import Store


def test_one_patient_has_one_key_in_all_benchmarks_of_a_lineage(store: Store):
    assert store.identities.unit_key("site", "MRN 7") == store.identities.unit_key("site", "MRN 7")
    assert (
        len(
            {
                store.identities.unit_key("site", "MRN 7"),
                store.identities.unit_key("site", "MRN 8"),
                store.identities.unit_key("mimic", "MRN 7"),
            }
        )
        == 3
    )
