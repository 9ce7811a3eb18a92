"""The files of a training run: weights, curve, card; and all runs together, `experiments.json`."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mhalib import language
from mhalib.analysis import what_heads_do
from mhalib.evaluation import evaluate, evaluation_texts, table
from mhalib.language import Score
from mhalib.model import GRID, Transformer
from mhalib.recipes import EXPERIMENTS, RECIPES, Recipe

Curve = list[dict[str, Any]]


def kept(scores: dict[str, Score], recipe: Recipe) -> dict[str, Score]:
    """Return those of `scores` that `recipe` trains for."""
    return {n: s for n, s in scores.items() if recipe.relation in (None, n)}


def measure(recipe: Recipe, model: Transformer) -> tuple[dict[str, Score], dict[str, Score]]:
    """Return the scores of `model`, trained as `recipe` says, and the best possible ones."""
    texts = evaluation_texts(relation=recipe.relation)
    return kept(evaluate(model, texts), recipe), kept(language.optimum(texts), recipe)


def file_name(name: str, seed: int) -> str:
    """Return how the files of run `name` with `seed` are called, without their endings."""
    return name if seed == 0 else f"{name}-seed{seed}"


def save(name: str, seed: int, out: Path, model: Transformer, curve: Curve) -> Path:
    """Write, into `out`, what was trained as `name` with `seed`, and return the path of the card.

    The weights of `model` are rounded to multiples of `GRID`; beside them stand the `curve` and a
    card about both.
    """
    path = out / f"{file_name(name, seed)}.safetensors"
    new = path.with_suffix(".new")
    model.rounded().save(new, np.float16)
    recipe, steps = RECIPES[name], curve[-1]["step"]
    scores, best = measure(recipe, Transformer.load(new))
    card = f"""# {name}: {recipe.about}

- Command: `python -m mhalib.training {name} --seed {seed} --steps {steps} --out DIRECTORY`
- Model: {model.n_parameters} parameters, multiples of 1/{1 / GRID:.0f}; {asdict(model.config)}
- Data: the language of `mhalib/language.py`; {steps} steps of {recipe.batch} texts, drawn
  anew; tokens from `tokenizer.json`
- Optimiser: Adam (β 0.9, 0.98), learning rate up to {recipe.peak} in {recipe.warm_up} steps,
  then down to 0
- Time: {curve[-1]["seconds"]:.0f} s with {torch.get_num_threads()} thread(s)
- Versions: Python {platform.python_version()}, torch {torch.__version__}, NumPy {np.__version__}

Measured on the course's evaluation set, 1000 texts (nats per word; the optimum knows the grammar):

{table(scores, best)}
"""
    new.replace(path)  # what was there before is lost only now, when all else has worked
    path.with_suffix(".curve.json").write_text(json.dumps(curve) + "\n", "utf-8")
    path.with_suffix(".md").write_text(card, "utf-8")
    return path.with_suffix(".md")


def gather(out: Path) -> dict[str, Any]:
    """Return the results of all runs whose files are in `out`, as `experiments.json` keeps them.

    Returns
    -------
    dict
        ``{"optimum", "runs"}``: each run has its name, seed, what it is about, config, number of
        parameters, steps, seconds, scores, and curve (steps, and the loss of each relation there).
        Runs of all the language in three layers with four heads have ``"heads"``:
        `mhalib.analysis.what_heads_do` on 300 texts.
    """
    runs = [_record(out, name, seed) for name, seed in [("main", 0), *EXPERIMENTS]]
    best = _plain(language.optimum(evaluation_texts()))
    return {"optimum": best, "runs": [run for run in runs if run]}


def _record(out: Path, name: str, seed: int) -> dict[str, Any]:
    path = out / f"{file_name(name, seed)}.safetensors"
    if not path.is_file():
        return {}
    curve = json.loads(path.with_suffix(".curve.json").read_text("utf-8"))
    model = Transformer.load(path, np.float32)
    points = [point["scores"] for point in curve]
    run = {
        "name": name,
        "seed": seed,
        "about": RECIPES[name].about,
        "config": asdict(model.config),
        "n_parameters": model.n_parameters,
        "steps": curve[-1]["step"],
        "seconds": curve[-1]["seconds"],
        "scores": _plain(measure(RECIPES[name], model)[0]),
        "curve": {
            "step": [point["step"] for point in curve],
            "loss": {r: [round(p[r]["loss"], 4) for p in points] for r in points[0]},
        },
    }
    if name in ("main", "layers3-heads4"):
        run["heads"] = what_heads_do(model, evaluation_texts(300))
    return run


def _plain(scores: dict[str, Score]) -> dict[str, dict[str, float]]:
    return {
        name: {"loss": round(s.loss, 4), "accuracy": round(s.accuracy, 4)}
        for name, s in scores.items()
    }
