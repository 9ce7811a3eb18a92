"""The whole machine: ids → logits, with every intermediate kept (capstone)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mhalib import _validate as validate
from mhalib.attention import softmax
from mhalib.embedding import embed, sinusoidal_positions
from mhalib.layers import ACTIVATIONS, BLOCKS, BlockTrace, layer_norm
from mhalib.tokenizer import Tokenizer
from mhalib.vocab import generate, greedy, tied_logits

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int

Array = NDArray[Any]
Cache = list[tuple[Array, Array]]  # K and V of each layer
WEIGHTS = Path(__file__).parent / "weights"
# The course's models are rounded to multiples of this: float16 holds them exactly, and a page gets
# them in little more than a byte each.
GRID = 1 / 512


@dataclass(frozen=True)
class Config:
    """The shape of a decoder-only Transformer with tied embeddings.

    `d_k` and `d_v` default to d_model / n_heads, `d_ff` to 4 · d_model. ``scaled=False``
    leaves out 1/√d_k; ``positions="none"`` leaves out the positions.
    """

    vocab_size: int
    d_model: int = 64
    n_heads: int = 4
    n_layers: int = 3
    d_k: int = 0
    d_v: int = 0
    d_ff: int = 0
    norm: Literal["post", "pre"] = "post"
    activation: Literal["relu", "gelu", "gelu_tanh"] = "relu"
    positions: Literal["sinusoidal", "none"] = "sinusoidal"
    scaled: bool = True

    def __post_init__(self) -> None:
        for name in ("vocab_size", "d_model", "n_heads", "n_layers"):
            validate.positive_int(name, getattr(self, name))
        if (self.d_k == 0 or self.d_v == 0) and self.d_model % self.n_heads:
            raise ValueError(
                f"n_heads must divide d_model = {self.d_model}, or d_k and d_v be given; "
                f"got {self.n_heads}"
            )
        for name, default in (
            ("d_k", self.d_model // self.n_heads),
            ("d_v", self.d_model // self.n_heads),
            ("d_ff", 4 * self.d_model),
        ):
            value = validate.positive_int(name, getattr(self, name) or default)
            object.__setattr__(self, name, value)
        for name, known in (
            ("norm", BLOCKS),
            ("activation", ACTIVATIONS),
            ("positions", ("sinusoidal", "none")),
        ):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}"
                )
        if not isinstance(self.scaled, bool):
            raise TypeError(f"scaled must be True or False, got {self.scaled!r}")


def layer_shapes(config: Config) -> dict[str, tuple[int, ...]]:
    """Return the name and shape of every parameter of one layer."""
    d, h, d_ff = config.d_model, config.n_heads, config.d_ff
    return {
        "W_Q": (d, h * config.d_k),
        "W_K": (d, h * config.d_k),
        "W_V": (d, h * config.d_v),
        "W_O": (h * config.d_v, d),
        "gamma_1": (d,),
        "beta_1": (d,),
        "W_1": (d, d_ff),
        "b_1": (d_ff,),
        "W_2": (d_ff, d),
        "b_2": (d,),
        "gamma_2": (d,),
        "beta_2": (d,),
    }


def parameter_shapes(config: Config) -> dict[str, tuple[int, ...]]:
    """Return the name and shape of every parameter, in the order of computation."""
    shapes: dict[str, tuple[int, ...]] = {"E": (config.vocab_size, config.d_model)}
    for i in range(config.n_layers):
        shapes |= {f"layers.{i}.{name}": shape for name, shape in layer_shapes(config).items()}
    if config.norm == "pre":  # the norm after the last block
        shapes |= {"gamma_f": (config.d_model,), "beta_f": (config.d_model,)}
    return shapes


def init_parameters(config: Config, rng: np.random.Generator) -> dict[str, Array]:
    """Return fresh parameters, float64.

    Matrices are uniform with variance 2 / (rows + columns) (Glorot, Bengio 2010), `E` is
    normal with variance 1/d_model, so that ×√d_model gives entries of variance 1. Biases and
    shifts are 0, norm factors 1.
    """
    parameters: dict[str, Array] = {}
    for name, shape in parameter_shapes(config).items():
        if name == "E":
            value = rng.normal(0, config.d_model**-0.5, shape)
        elif len(shape) == 2:
            limit = math.sqrt(6 / sum(shape))
            value = rng.uniform(-limit, limit, shape)
        else:
            value = np.full(shape, 1.0 if "gamma" in name else 0.0)
        parameters[name] = value
    return parameters


@dataclass(frozen=True)
class Ablation:
    """What to take out of a forward pass, to see what it was there for.

    Parameters
    ----------
    scale : leave the scores unscaled (no 1/√d_k)
    mask : let every token see the whole sequence, the future included
    positions : add no positions
    embedding_scale : do not multiply the embeddings by √d_model
    residual : a sublayer's output replaces the stream, where it should be added to it
    norm : no layer norm
    W_O : layers in which concat(heads) skips W_O (needs h·d_v = d_model)
    heads : (layer, head) pairs whose output becomes 0; or a mapping from such pairs to the
        value, number or (d_v,), that takes the output's place ("mean ablation")
    layers : layers that are skipped
    """

    scale: bool = False
    mask: bool = False
    positions: bool = False
    embedding_scale: bool = False
    residual: bool = False
    norm: bool = False
    W_O: Collection[int] = ()
    heads: Collection[tuple[int, int]] | Mapping[tuple[int, int], Any] = ()
    layers: Collection[int] = ()

    def check(self, config: Config) -> None:
        """Refuse layers and heads that a model of this shape does not have."""
        for name, layers in (
            ("W_O", self.W_O),
            ("layers", self.layers),
            ("heads", [layer for layer, _ in self.heads]),
        ):
            if outside := set(layers) - set(range(config.n_layers)):
                raise ValueError(
                    f"ablate.{name}: layer must lie in 0 … {config.n_layers - 1}, "
                    f"got {sorted(outside)}"
                )
        if outside := {head for _, head in self.heads} - set(range(config.n_heads)):
            raise ValueError(
                f"ablate.heads: head must lie in 0 … {config.n_heads - 1}, got {sorted(outside)}"
            )
        if self.W_O and config.n_heads * config.d_v != config.d_model:
            raise ValueError(
                f"ablate.W_O needs h·d_v = d_model, got {config.n_heads * config.d_v} "
                f"and {config.d_model}"
            )


@dataclass(frozen=True)
class Trace:
    """Every named intermediate of one forward pass, in the order of computation."""

    ids: Int[Array, "*batch n"]
    embedded: Float[Array, "*batch n d_model"]  # rows of E, times √d_model
    positions: Float[Array, "n d_model"]
    X: Float[Array, "*batch n d_model"]  # embedded + positions
    layers: Sequence[BlockTrace]  # a layer that was ablated has no entry
    output: Float[Array, "*batch n d_model"]  # what the vocabulary head reads
    logits: Float[Array, "*batch n V"]
    probabilities: Float[Array, "*batch n V"]

    def flat(self) -> dict[str, Array]:
        """Return all arrays by name: ``X``, ``layers.0.Q``, ``layers.0.norm_1``, …"""
        arrays: dict[str, Array] = {}
        for item in fields(self):
            if item.name != "layers":
                arrays[item.name] = getattr(self, item.name)
                continue
            for i, block in enumerate(self.layers):
                for part in fields(block):
                    value = getattr(block, part.name)
                    inner = (
                        {f.name: getattr(value, f.name) for f in fields(value)}
                        if part.name == "attention"
                        else {part.name: value}
                    )
                    arrays |= {f"layers.{i}.{name}": array for name, array in inner.items()}
        return arrays


@dataclass(frozen=True)
class Transformer:
    """A decoder-only Transformer in NumPy: `Config` and parameters, nothing hidden.

    Parameters
    ----------
    config : the shape
    parameters : arrays by name, as `parameter_shapes` lists them

    Raises
    ------
    ValueError
        If a parameter is missing, unknown, of another shape, or not finite.

    Examples
    --------
    >>> config = Config(vocab_size=7, d_model=4, n_heads=2, n_layers=1)
    >>> model = Transformer(config, init_parameters(config, np.random.default_rng(0)))
    >>> model.forward([3, 1, 4]).logits.shape
    (3, 7)
    """

    config: Config
    parameters: Mapping[str, Array] = field(repr=False)

    def __post_init__(self) -> None:
        shapes = parameter_shapes(self.config)
        missing = [name for name in shapes if name not in self.parameters]
        unknown = [name for name in self.parameters if name not in shapes]
        if missing or unknown:
            raise ValueError(f"parameters: missing {missing}, unknown {unknown}")
        for name, shape in shapes.items():
            array = validate.float_array(name, self.parameters[name])
            if array.shape != shape:
                raise ValueError(f"{name} must have shape {shape}, got {array.shape}")
            if not np.isfinite(array).all():
                raise ValueError(f"{name} must be finite, got NaN or infinity")

    @property
    def n_parameters(self) -> int:
        return sum(array.size for array in self.parameters.values())

    def layer(self, i: int) -> dict[str, Array]:
        """Return the parameters of layer `i` by their short names (``W_Q``, …)."""
        prefix = f"layers.{i}."
        return {
            name.removeprefix(prefix): array
            for name, array in self.parameters.items()
            if name.startswith(prefix)
        }

    def forward(
        self,
        ids: Int[Array, "*batch n"],
        *,
        mask: Bool[Array, "*#batch #h #n_q #n_k"] | None = None,
        causal: bool = True,
        ablate: Ablation | None = None,
        past: Cache | None = None,
    ) -> Trace:
        r"""Run the model on `ids` and return every intermediate.

        Parameters
        ----------
        ids : (*batch, n) tokens
        mask : boolean, broadcastable to (*batch, h, n, n), True = may attend; `padding_mask`
        causal : each token sees only itself and what came before
        ablate : what to leave out
        past : keys and values of earlier tokens, from `Transformer.decode`

        Returns
        -------
        Trace; row i of its ``probabilities`` is about the token after token i
        """
        config, p = self.config, self.parameters
        ablate = ablate or Ablation()
        ablate.check(config)
        ids = validate.array("ids", ids, ndim=1)
        start = past[0][0].shape[-2] if past else 0
        embedded = embed(ids, p["E"], scale=1.0 if ablate.embedding_scale else None)
        P = sinusoidal_positions(ids.shape[-1], config.d_model, start).astype(embedded.dtype)
        if config.positions == "none" or ablate.positions:
            P = np.zeros_like(P)
        X = embedded + P
        options: dict[str, Any] = {
            "activation": ACTIVATIONS[config.activation],
            "mask": mask,
            "causal": causal and not ablate.mask,
            "scale": 1.0 if ablate.scale or not config.scaled else None,
        }
        if ablate.norm:
            options["norm"] = lambda X, gamma, beta: X
        if ablate.residual:
            options["residual"] = lambda X, correction: correction
        stream, blocks = X, []
        for i in range(config.n_layers):
            if i in ablate.layers:
                continue
            layer = self.layer(i)
            if i in ablate.W_O:
                layer["W_O"] = np.eye(config.d_model, dtype=embedded.dtype)
            block = BLOCKS[config.norm](
                stream,
                layer,
                config.n_heads,
                past=past[i] if past else None,
                edit_heads=_head_edit(ablate, i),
                **options,
            )
            blocks.append(block)
            stream = block.output
        if config.norm == "pre" and not ablate.norm:
            stream = layer_norm(stream, p["gamma_f"], p["beta_f"])
        logits = tied_logits(stream, p["E"])
        return Trace(ids, embedded, P, X, blocks, stream, logits, softmax(logits))

    def decode(
        self, ids: Int[Array, "*batch n"], cache: Cache | None = None
    ) -> tuple[Float[Array, "*batch V"], Cache]:
        """Return the logits of the token after `ids`, and the keys and values to go on from.

        With a `cache`, `ids` are the new tokens only: what the earlier ones computed does not
        change when tokens are added, so it is kept.
        """
        trace = self.forward(ids, past=cache)
        return trace.logits[..., -1, :], [
            (block.attention.K, block.attention.V) for block in trace.layers
        ]

    def generate(
        self,
        ids: Sequence[int],
        n_new: int,
        choose: Callable[[Array], int] = greedy,
        stop: Collection[int] = (),
    ) -> list[int]:
        """Write on from `ids` with cached decoding: see `mhalib.vocab.generate`."""
        return generate(self.decode, ids, n_new, choose, stop)

    def rounded(self) -> Transformer:
        """Return the model with its parameters rounded to multiples of `GRID`."""
        rounded = {name: np.rint(array / GRID) * GRID for name, array in self.parameters.items()}
        return Transformer(self.config, rounded)

    def save(self, path: str | Path, dtype: DTypeLike = np.float32) -> None:
        """Write the parameters as safetensors, the config in the file's metadata."""
        arrays = {
            name: np.ascontiguousarray(array, dtype) for name, array in self.parameters.items()
        }
        save_file = _safetensors("safetensors.numpy").save_file
        save_file(arrays, path, metadata={"config": json.dumps(asdict(self.config))})

    @classmethod
    def load(cls, path: str | Path, dtype: DTypeLike = np.float64) -> Transformer:
        """Read what `save` wrote, as `dtype`.

        Raises
        ------
        FileNotFoundError
            If there is no file at `path`.
        ValueError
            If the file is not a model that `save` wrote, or is damaged.
        """
        if not Path(path).is_file():
            raise FileNotFoundError(f"no model file at {path}")
        safe_open = _safetensors("safetensors").safe_open
        try:
            with safe_open(path, framework="np") as file:
                names = file.keys()  # the file itself cannot be iterated
                metadata = file.metadata() or {}
                if "config" not in metadata:
                    raise ValueError("its metadata hold no config")
                config = Config(**json.loads(metadata["config"]))
                if config.n_layers > len(names):
                    raise ValueError(f"n_layers is {config.n_layers}, its arrays {len(names)}")
                parameters = {name: file.get_tensor(name).astype(dtype) for name in names}
            return cls(config, parameters)
        except Exception as error:  # safetensors raises its own classes for a damaged file
            with open(path, "rb") as raw:
                start = raw.read(9)  # of safetensors: the header's length, then the header
            pickled = start.startswith((b"PK", b"\x80")) and not start.endswith(b"{")
            why = "a pickle can run code and is never read; give safetensors" if pickled else error
            raise ValueError(f"{path} is not a saved Transformer: {why}") from error


def _head_edit(ablate: Ablation, layer: int) -> Callable[[Array], Array] | None:
    values = ablate.heads if isinstance(ablate.heads, Mapping) else dict.fromkeys(ablate.heads, 0.0)
    here = {head: value for (i, head), value in values.items() if i == layer}
    if not here:
        return None

    def edit(heads: Array) -> Array:
        edited = heads.copy()
        for head, value in here.items():
            edited[..., head, :, :] = value
        return edited

    return edit


def _safetensors(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError("model files need safetensors: pip install safetensors") from error


def load_tokenizer() -> Tokenizer:
    """Return the tokenizer that all course models share."""
    return Tokenizer.load(WEIGHTS / "tokenizer.json")


def load_model(name: str = "main", dtype: DTypeLike = np.float64) -> Transformer:
    """Return a trained model of the course by its name.

    Raises
    ------
    ValueError
        If there is no model of that name; the message lists those there are.
    """
    path = WEIGHTS / f"{name}.safetensors"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in WEIGHTS.glob("*.safetensors")))
        raise ValueError(f"name must be one of: {known}; got {name!r}")
    return Transformer.load(path, dtype)
