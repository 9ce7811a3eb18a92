"""Problems for pencil and paper: their answers by hand, and every mistake told from every other."""

from itertools import islice, pairwise

import numpy as np
import pytest

from mhalib.by_hand import RUNGS, Mistake
from mhalib.by_hand.attention import CAUSAL
from mhalib.by_hand.problem import EXACT, apart
from mhalib.widgets.practice import COUNT, shipped

EVERY = [(name, rung) for name, rung in RUNGS.items()]
by_rung = pytest.mark.parametrize(("name", "rung"), EVERY, ids=[name for name, _ in EVERY])


def tables(problem):
    """The asked tables of a problem, filled with the right answers."""
    answers, found = iter(problem.right), {}
    for grid in problem.grids:
        rows, columns = grid.shape
        filled = np.full((rows, columns), None)
        for i in range(rows):
            for j in range(columns):
                if grid.asked and not grid.masks(i, j):
                    filled[i, j] = next(answers)
        found[grid.name] = filled if grid.asked else np.asarray(grid.given)
    assert next(answers, None) is None
    return found


@by_rung
def test_each_mistake_differs_from_the_right_answer_and_from_every_other_mistake(name, rung):
    assert len({mistake.name for mistake in rung.mistakes}) == len(rung.mistakes) >= 3
    assert len({repr(problem.grids) for problem in shipped(name)}) == COUNT
    for problem in shipped(name):
        answers = [problem.right, *problem.wrong]
        assert len(answers) == len(rung.mistakes) + 1
        for i, one in enumerate(answers):
            for other in answers[:i]:
                cells = list(zip(one, other, problem.within, strict=True))
                told = [apart(a, b, w) for a, b, w in cells]
                assert True in told, problem
                assert None not in told, problem  # rounding never decides


def test_a_problem_in_which_a_mistake_does_not_show_is_not_fair():
    rung = RUNGS["score"]
    q = np.array([1, 1, 1, 0])
    assert rung.fair({"q": q, "k": np.array([2, 1, 1, 3])})
    assert not rung.fair({"q": q, "k": np.array([2, -1, -1, 3])})  # 0, with any scale


@by_rung
def test_numbers_are_small_and_problems_the_same_each_time(name, rung):
    again = list(islice(rung.problems(), 3))
    assert [repr(p) for p in again] == [repr(p) for p in shipped(name)[:3]]
    for problem in shipped(name):
        for grid in problem.grids:
            if grid.asked or isinstance(grid.given[0][0], str):
                continue
            assert np.abs(np.asarray(grid.given, dtype=float)).max() <= 20.1


def rounded_work(name, given):
    """The answers of someone who writes everything down with two decimals."""
    g = {key: np.asarray(value) for key, value in given.items()}
    cut = lambda x: np.round(np.asarray(x, dtype=float), 2)  # noqa: E731
    powers = g.get("e to the power of", np.zeros((1, 7)))[0]
    power = dict(zip(range(-3, 4), powers, strict=True))

    def softmax(row, shift=False):
        powers = np.array([power[int(s - (max(row) if shift else 0))] for s in row])
        return cut(powers / powers.sum())

    if name == "softmax":
        plain, shifted = (softmax(g["scores"][0], shift) for shift in (False, True))
        return [{"weights": plain[None]}, {"weights": shifted[None]}]  # both are right
    if name in ("mask", "head"):
        scores = cut(g["Q"] @ g["K"].T / 2) if name == "head" else g["scores"]
        found = []
        for shift in (False, True):
            W = np.zeros((3, 3))
            for i in range(3):
                W[i, : i + 1] = softmax(scores[i, : i + 1], shift)
            work = {"scores": scores} if name == "head" else {}
            found.append({**work, "weights": W, **({"output": cut(W @ g["V"])} if work else {})})
        return found
    if name == "input":
        at = int(given["x label"].removeprefix("position "))
        row = g["E"][g["ids of the text"][0, at]]
        return [{"x": cut(2 * row + g["positional code"][at])[None]}]
    if name == "score":
        q, k = g["q and k"]
        return [{"score": [[q @ k / 2]]}]
    if name == "scores":
        at = ("I", "love", "bats").index(given["scores label"].split("”")[0][1:])
        return [{"scores": (g["K"] @ g["Q"][at] / 2)[None]}]
    if name == "norm":
        x = g["X"][0]
        mean, spread = x.mean(), cut(np.sqrt(((x - x.mean()) ** 2).mean()))
        return [{"mean": [[mean]], "σ": [[spread]], "norm": cut((x - mean) / spread)[None]}]
    if name == "loss":
        p = [g["probabilities"][t, t + 1] for t in range(3)]
        loss = cut(-np.log(p))
        columns = {"p": np.c_[p], "loss": np.c_[loss]}
        return [{**columns, "mean loss": [[cut(loss.mean())]]}]
    if name == "split":
        Q, heads = g["Q"], [g["output of head 0"], g["output of head 1"]]
        cuts = {"head 0 of Q": Q[:, :2], "head 1 of Q": Q[:, 2:]}
        return [{**cuts, "concat": np.hstack(heads)}]
    words = given["corpus label"]
    seen = {}
    for word, times in zip(words, g["corpus"][:, 0], strict=True):
        for a, b in pairwise(word.split()):
            seen[a + b] = seen.get(a + b, 0) + times
    best = max(seen, key=seen.get)
    after = [[" ".join(w.replace(" ", "").replace(best, f" {best} ").split())] for w in words]
    after = [[" ".join(p if p == best else " ".join(p) for p in row[0].split())] for row in after]
    return [{"seen": [[n] for n in seen.values()], "first merge": [[best]], "after it": after}]


@by_rung
def test_who_works_with_head_and_paper_is_right_in_every_problem(name, rung):
    for problem in shipped(name):
        given = {grid.name: grid.given for grid in problem.grids if not grid.asked}
        given |= {f"{grid.name} label": grid.rows[0] for grid in problem.grids if grid.rows}
        if name == "merge":
            given["corpus label"] = problem.grids[0].rows
        for work in rounded_work(name, given):
            written = [c for g in problem.grids if g.asked for c in g.cells(work[g.name])]
            for mine, right, within in zip(written, problem.right, problem.within, strict=True):
                assert mine == right if isinstance(right, str) else abs(mine - right) <= within


@by_rung
def test_the_steps_of_the_key_lead_to_the_answer(name, rung):
    """What is arithmetic in a step is evaluated."""
    table = str.maketrans({"−": "-", "·": "*"})
    checked = 0
    for problem in shipped(name):
        for step, right, within in zip(problem.steps, problem.right, problem.within, strict=True):
            text = step.translate(table).replace("-ln ", "-np.log(") + ")" * step.count("−ln ")
            text = text.replace("√(", "np.sqrt(")
            if set(text.replace("np.sqrt", "").replace("np.log", "")) <= set("0123456789.+-*/() "):
                if step.startswith("(−ln"):
                    continue
                assert abs(eval(text) - right) <= max(within, EXACT), (step, right)
                checked += 1
    assert checked >= (0 if name == "split" else COUNT)


def test_weights_of_a_masked_problem_are_zero_where_they_are_masked():
    for problem in shipped("mask"):
        weights = tables(problem)["weights"].astype(float)
        assert (weights[~CAUSAL] == 0).all()
        np.testing.assert_allclose(weights.sum(1), 1)


def test_the_smallest_example_of_each_chapter_by_hand():
    merge = RUNGS["merge"].solve({"words": ("bat", "cat", "bag"), "times": (1, 1, 1)})
    assert merge["seen"] == [[2], [2], [1], [1]]  # ba, at, ca, ag
    assert RUNGS["split"].solve(
        {"Q": np.arange(8.0).reshape(2, 4), "heads": np.arange(8.0).reshape(2, 2, 2)}
    )["head 0 of Q"].tolist() == [[0, 1], [4, 5]]
    reshaped = next(m for m in RUNGS["split"].mistakes if m.name.startswith("reshaped"))
    assert isinstance(reshaped, Mistake)
    wrong = reshaped.solve(
        {"Q": np.arange(8.0).reshape(2, 4), "heads": np.arange(8.0).reshape(2, 2, 2)}
    )
    assert wrong["head 0 of Q"].tolist() == [[0, 1], [2, 3]]
    after = next(m for m in RUNGS["mask"].mistakes if m.name == "mask after the softmax")
    S = np.log(
        [[1.0, 2, 3]] * 3
    )  # fixture R3 of the grader: [2, 10, 28] in the place of 12, 20, 28
    V = np.array([12.0, 24, 36])
    np.testing.assert_allclose(after.solve({"S": S})["weights"] @ V, [2, 10, 28])
    np.testing.assert_allclose(RUNGS["mask"].solve({"S": S})["weights"] @ V, [12, 20, 28])
