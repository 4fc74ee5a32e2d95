"""How results print: a line for each attribute, short arrays, no zero counts; a table in notebooks."""

import numpy as np

import agrad as ag


def lines_of(result):
    return [line.split(":")[0].strip() for line in repr(result).splitlines()]


def test_a_solution_prints_short_arrays_and_counts_that_are_not_zero():
    result = ag.solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0, 2.0], t_eval=np.linspace(0.0, 1.0, 1000))
    text = repr(result)
    assert text.startswith("       t: [ 0.000e+00  1.001e-03 ...  9.990e-01  1.000e+00]\n       y: [[ 1.000e+00 ")
    assert f"   stats:           steps: {result.nst}\n" in text
    assert "factorizations" not in text
    assert len(text) < 1200
    assert all(len(line) <= 80 for line in text.splitlines())
    assert {"t", "y", "success", "status", "message", "sol", "t_events", "nfev"} <= set(lines_of(result))


def test_arrays_of_events_print():
    result = ag.solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0], events=lambda t, y: y[0] - 0.5)
    assert "t_events: [[ 6.931e-01]]\n" in repr(result)


def test_states_in_a_tree_print():
    result = ag.solve_ivp(lambda t, y: {"prey": -y["prey"], "eaten": y["prey"]}, (0.0, 1.0), {"prey": 1.0, "eaten": 0.0})
    assert " prey: [ 1.000e+00 " in repr(result)
    assert "eaten: [ 0.000e+00 " in repr(result)
    assert "<th>y</th>" in result._repr_html_()


def test_other_results_print_their_attributes():
    root, minimum = ag.root(lambda x: x**2 - 2, 1.0), ag.minimize(lambda x: np.sum((x - 1) ** 2), np.zeros(100))
    steady = ag.steady_state(lambda t, y: 1 - y, [0.5])
    dae = ag.solve_dae(lambda t, y, yp: yp + y, (0.0, 1.0), [1.0], [-1.0])
    assert lines_of(root) == ["x", "success", "fun", "nit"]
    assert repr(minimum).splitlines()[0] == "      x: [ 1.000e+00  1.000e+00 ...  1.000e+00  1.000e+00]"
    assert {"y", "stable", "growth_rate", "message"} <= set(lines_of(steady))
    assert {"t", "y", "yp", "message"} <= set(lines_of(dae))


def test_a_result_within_a_recorded_function_prints():
    texts = []

    def of(a):
        found = ag.root(lambda x: x**2 - a, 1.0)
        texts.append(repr(found))
        return found.x

    ag.grad(of)(2.0)
    assert texts[0].startswith("      x: <recorded array of shape () in grad(")


def test_a_notebook_gets_a_table():
    html = ag.root(lambda x: x**2 - 2, 1.0)._repr_html_()
    assert html.startswith("<table><tr><th>x</th><td><pre>1.414213562373095")
    assert html.count("<tr>") == 4
    dense = ag.solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0], dense_output=True)._repr_html_()
    assert "<th>sol</th><td><pre>&lt;" in dense  # what is no HTML is escaped


def test_a_tree_of_constraints_prints_its_leaves():
    tree = ag.constraints.Tree({"rate": ag.constraints.positive(), "share": [ag.constraints.simplex(3)]})
    assert repr(tree) == (
        "Tree({'rate': <positive, shape (), 1 free numbers>, 'share': [<simplex, shape (3,), 2 free numbers>]})"
    )
