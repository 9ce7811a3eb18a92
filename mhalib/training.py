"""Training the course's models: ``python -m mhalib.training --help`` (PyTorch)."""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F
from tqdm.auto import tqdm

from mhalib import _validate as validate
from mhalib import language
from mhalib._stream import say_all
from mhalib.analysis import what_heads_do
from mhalib.evaluation import evaluate, evaluation_texts, table
from mhalib.language import Score, Text
from mhalib.model import GRID, Transformer, init_parameters, load_model, load_tokenizer
from mhalib.recipes import EXPERIMENTS, RECIPES, Recipe
from mhalib.tokenizer import Tokenizer
from mhalib.torch.model import Transformer as TorchTransformer

Curve = list[dict[str, Any]]


Batch = tuple[torch.Tensor, torch.Tensor]  # ids (batch, n); which of them are targets


def _batch(texts: Sequence[Text], tokenizer: Tokenizer, relation: str | None = None) -> Batch:
    """Return the ids, and which count: all words but the first, or those of `relation`.

    Padding is never a target. It stands on the right, so no causal row sees it either.
    """
    ids, lengths = language.encode_batch(texts, tokenizer)
    targets = np.arange(ids.shape[1]) < lengths[:, None]
    targets[:, 0] = False
    if relation:
        for row, text in zip(targets, texts, strict=True):
            row[: len(text.words)] = [name == relation for name in text.relations]
    return torch.from_numpy(ids), torch.from_numpy(targets)


def _predictions(model: torch.nn.Module, ids: torch.Tensor, targets: torch.Tensor) -> Batch:
    """Return the logits and the ids they are about: each token predicts the one after it."""
    return model(ids[:, :-1])[targets[:, 1:]], ids[targets]


@torch.no_grad()
def _scores(model: torch.nn.Module, texts: Sequence[Text], batch: Batch) -> dict[str, Score]:
    logits, targets = _predictions(model, *batch)
    losses = F.cross_entropy(logits, targets, reduction="none").double().numpy()
    return language.score(texts, losses, (logits.argmax(-1) == targets).numpy())


def _kept(scores: dict[str, Score], recipe: Recipe) -> dict[str, Score]:
    """Return the scores of what `recipe` trains on."""
    return {n: s for n, s in scores.items() if recipe.relation in (None, n)}


def train(
    recipe: Recipe,
    seed: int = 0,
    *,
    checkpoint: Path | None = None,
    every: int = 100,
    progress: bool = True,
) -> tuple[Transformer, Curve]:
    """Train a model on texts drawn fresh for each step.

    Parameters
    ----------
    recipe : the model and its schedule
    seed : decides the first parameters and all texts
    checkpoint : file that keeps the state after each `every` steps; if it is there, the run goes
        on from it and ends as if it had never stopped
    every : steps between two points of the curve
    progress : show a bar with the loss on other texts and the best possible loss

    Returns
    -------
    the model, and its curve: ``{"step", "seconds", "scores": {relation: score}}`` per point

    Raises
    ------
    ValueError
        If `checkpoint` belongs to another recipe or seed, or `seed` or `every` is out of range.
    """
    seed = validate.positive_int("seed", seed, minimum=0)
    every = validate.positive_int("every", every)
    config = recipe.config()
    first = init_parameters(config, np.random.default_rng(seed))
    model = TorchTransformer.from_numpy(Transformer(config, first)).float()
    adam = torch.optim.Adam(
        model.parameters(), lr=recipe.peak, betas=(0.9, 0.98), eps=1e-9, fused=True
    )
    tokenizer = load_tokenizer()
    others = evaluation_texts(300, recipe.relation)
    measured, best = _batch(others, tokenizer), language.optimum(others)
    watched = recipe.relation or "all"
    run = f"{recipe}, seed {seed}"
    done, seconds, curve = 0, 0.0, Curve()
    if checkpoint and checkpoint.is_file():
        state = torch.load(checkpoint, weights_only=True)
        if state["run"] != run:
            raise ValueError(f"checkpoint {checkpoint} belongs to another run: {state['run']}")
        model.load_state_dict(state["model"])
        adam.load_state_dict(state["adam"])
        done, seconds, curve = state["step"], state["seconds"], state["curve"]

    with tqdm(total=recipe.steps, initial=done, unit="step", disable=not progress) as bar:
        while done < recipe.steps:
            start = time.perf_counter()
            texts = language.corpus(recipe.batch, (seed, done), recipe.relation)
            batch = _batch(texts, tokenizer, recipe.relation)
            logits, targets = _predictions(model, *batch)
            loss = F.cross_entropy(logits, targets)
            adam.zero_grad()
            loss.backward()
            for group in adam.param_groups:
                group["lr"] = recipe.learning_rate(done + 1)
            adam.step()
            done += 1
            seconds += time.perf_counter() - start
            bar.update()
            if done % every == 0 or done == recipe.steps:
                scores = _scores(model, others, measured)
                plain = {name: s._asdict() for name, s in _kept(scores, recipe).items()}
                curve.append({"step": done, "seconds": round(seconds, 1), "scores": plain})
                bar.set_postfix_str(
                    f"loss {scores[watched].loss:.4f}, optimum {best[watched].loss:.4f}"
                )
                if checkpoint:
                    state = {"run": run, "step": done, "seconds": seconds, "curve": curve}
                    state |= {"model": model.state_dict(), "adam": adam.state_dict()}
                    torch.save(state, checkpoint.with_suffix(".part"))
                    checkpoint.with_suffix(".part").replace(checkpoint)  # never half a file
    return model.to_numpy(), curve


def _measure(recipe: Recipe, model: Transformer) -> tuple[dict[str, Score], dict[str, Score]]:
    """Return the scores of `model` on the evaluation set, and the best possible ones."""
    texts = evaluation_texts(relation=recipe.relation)
    return _kept(evaluate(model, texts), recipe), _kept(language.optimum(texts), recipe)


def file_name(name: str, seed: int) -> str:
    """Return how the files of a run are called, without their endings."""
    return name if seed == 0 else f"{name}-seed{seed}"


def save(name: str, seed: int, out: Path, model: Transformer, curve: Curve) -> Path:
    """Write the weights, rounded to multiples of `GRID`, the curve, and a card about both.

    Returns the path of the card.
    """
    path = out / f"{file_name(name, seed)}.safetensors"
    new = path.with_suffix(".new")
    model.rounded().save(new, np.float16)
    recipe, steps = RECIPES[name], curve[-1]["step"]
    scores, best = _measure(recipe, Transformer.load(new))
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


def train_and_save(name: str, seed: int, out: Path, steps: int | None = None) -> Path:
    """Train recipe `name` and `save` it into `out`, going on from a checkpoint left there."""
    recipe = RECIPES[name]
    if steps is not None:
        recipe = replace(recipe, steps=steps)
    out.mkdir(parents=True, exist_ok=True)
    checkpoint = out / f"{file_name(name, seed)}.checkpoint"
    model, curve = train(recipe, seed, checkpoint=checkpoint)
    card = save(name, seed, out, model, curve)
    checkpoint.unlink(missing_ok=True)
    return card


def gather(out: Path) -> dict[str, Any]:
    """Return the results of all runs whose files are in `out`, as `experiments.json` keeps them.

    Returns
    -------
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
        "scores": _plain(_measure(RECIPES[name], model)[0]),
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


def _at_least(minimum: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        try:
            return validate.positive_int("it", int(text), minimum)
        except ValueError:
            raise argparse.ArgumentTypeError(f"expected {minimum} or more, got {text!r}") from None

    return parse


def main(arguments: Sequence[str] | None = None) -> int:
    say_all()
    parser = argparse.ArgumentParser("python -m mhalib.training", description=__doc__)
    parser.add_argument("name", nargs="?", default="main", choices=RECIPES, metavar="NAME",
                        help=f"what to train (default: main): {', '.join(RECIPES)}")  # fmt: skip
    parser.add_argument("--steps", type=_at_least(1), help="how many steps (default: the recipe's)")
    parser.add_argument("--seed", type=_at_least(0), default=0)
    parser.add_argument("--out", type=Path, default=Path("runs"),
                        help="directory for weights, curve and card (default: runs); a run that "
                        "was interrupted goes on from its checkpoint there")  # fmt: skip
    parser.add_argument(
        "--threads", type=_at_least(1), help="CPU threads (default: torch's choice)"
    )
    parser.add_argument("--evaluate", action="store_true",
                        help="train nothing; score the shipped model NAME")  # fmt: skip
    parser.add_argument("--experiments", action="store_true",
                        help="train all experiments that are not in --out yet (hours), then "
                        "write experiments.json there")  # fmt: skip
    options = parser.parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    if options.evaluate:
        print(table(*_measure(RECIPES[options.name], load_model(options.name))))
    elif options.experiments:
        for name, seed in EXPERIMENTS:
            if not (options.out / f"{file_name(name, seed)}.md").is_file():
                train_and_save(name, seed, options.out)
        text = json.dumps(gather(options.out)) + "\n"
        (options.out / "experiments.json").write_text(text, "utf-8")
    else:
        card = train_and_save(options.name, options.seed, options.out, options.steps)
        print(card.read_text("utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
