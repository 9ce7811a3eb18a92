"""Training the course's models: ``python -m mhalib.training --help`` (PyTorch)."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F
from tqdm.auto import tqdm

from mhalib import _validate as validate
from mhalib import language
from mhalib._stream import say_all
from mhalib.evaluation import evaluation_texts, table
from mhalib.language import Score, Text
from mhalib.model import Transformer, init_parameters, load_model, load_tokenizer
from mhalib.recipes import EXPERIMENTS, RECIPES, Recipe
from mhalib.runs import Curve, file_name, gather, kept, measure, save
from mhalib.tokenizer import Tokenizer
from mhalib.torch.model import Transformer as TorchTransformer

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
    recipe : Recipe
        The model and its schedule.
    seed : int
        Decides the first parameters and all texts.
    checkpoint : Path, optional
        File that keeps the state after each `every` steps; if it is there, the run goes on from it
        and ends as if it had never stopped.
    every : int
        Steps between two points of the curve.
    progress : bool
        Show a bar with the loss on other texts and the best possible loss.

    Returns
    -------
    model : Transformer
        The trained model.
    curve : list of dict
        ``{"step", "seconds", "scores": {relation: score}}`` per point.

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
                plain = {name: s._asdict() for name, s in kept(scores, recipe).items()}
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


def train_and_save(name: str, seed: int, out: Path, steps: int | None = None) -> Path:
    """Train recipe `name` with `seed` and `save` it into `out`.

    It goes on from a checkpoint left there; `steps` are the recipe's if not given.
    """
    recipe = RECIPES[name]
    if steps is not None:
        recipe = replace(recipe, steps=steps)
    out.mkdir(parents=True, exist_ok=True)
    checkpoint = out / f"{file_name(name, seed)}.checkpoint"
    model, curve = train(recipe, seed, checkpoint=checkpoint)
    card = save(name, seed, out, model, curve)
    checkpoint.unlink(missing_ok=True)
    return card


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
        print(table(*measure(RECIPES[options.name], load_model(options.name))))
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
