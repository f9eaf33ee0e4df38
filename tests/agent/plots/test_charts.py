"""What a chart has cells for."""

from tests.agent.plots.summaries import chart, summary


def test_models_of_several_deployments_and_parts_of_a_benchmark_have_cells_of_their_own():
    grid = chart(
        summary("x", "a", 0.1, deployment="one"),
        summary("x", "a", 0.2, deployment="two"),
        summary("y", "b", 0.3, entry=",c=1"),
        summary("y", "b", 0.4, entry=",c=2"),
    ).grid
    assert grid.columns == ("a (one)", "a (two)", "b")
    assert grid.rows == ("x", "y c=1", "y c=2")
    assert grid.cells == ((0.1, 0.2, None), (None, None, 0.3), (None, None, 0.4))
