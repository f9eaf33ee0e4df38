"""A share of the mutants that `make test-mutants` posts, given to the intake itself: none is accepted."""

import pytest
from sqlalchemy import func, select

from aggregator.home import Home, today_day
from aggregator.intake import accept
from aggregator.log import journal
from aggregator.store.schema import forks, refusals
from protocol.errors import Code, ProtocolError
from tests.aggregator.conftest import home  # noqa: F401 - a fixture
from tests.aggregator.federation import ready, registry_of, scores
from tests.attacks.mutants import MUTATIONS, make_mutants

FOR_STRANGERS = {Code.MALFORMED, Code.UNKNOWN_KEY, Code.BAD_SIGNATURE}
SHARE = 200 * len(MUTATIONS)


def test_no_mutant_of_a_right_submission_is_accepted(home: Home) -> None:  # noqa: F811
    site = ready(home)
    envelope = site.sign(site.result(registry_of(home), scores(1)))
    with home.database.reading() as connection:
        before = journal.size(connection)
    codes = set()
    for mutant in make_mutants(envelope, SHARE, seed=7):
        with pytest.raises(ProtocolError) as refused:
            accept(home, mutant, today_day=today_day())
        codes.add(refused.value.code)
    assert codes == FOR_STRANGERS
    with home.database.reading() as connection:
        assert journal.size(connection) == before
        for table in (forks, refusals):
            assert connection.execute(select(func.count()).select_from(table)).scalar_one() == 0
    accept(home, envelope, today_day=today_day())  # which was right all along
