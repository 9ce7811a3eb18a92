"""The numbers of a model: checked, rounded, stored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mhalib import _validate as validate
from mhalib.model import files
from mhalib.model.config import Config, parameter_shapes

Array = NDArray[Any]
# The course's models are rounded to multiples of this: float16 holds them exactly, and a page gets
# them in little more than a byte each.
GRID = 1 / 512


@dataclass(frozen=True)
class Parameters:
    """A config and its parameters, nothing hidden.

    Parameters
    ----------
    config : Config
        The shape.
    parameters : dict of str to array
        By the names that `parameter_shapes` lists.

    Raises
    ------
    ValueError
        If a parameter is missing, unknown, of another shape, or not finite.
    """

    config: Config
    parameters: Mapping[str, Array] = field(repr=False)

    def __post_init__(self) -> None:
        shapes = parameter_shapes(self.config)
        missing = [name for name in shapes if name not in self.parameters]
        unknown = [name for name in self.parameters if name not in shapes]
        if missing or unknown:
            raise ValueError(f"parameters: missing {missing}, unknown {unknown}")
        arrays = {
            name: validate.float_array(name, array) for name, array in self.parameters.items()
        }
        for name, array in arrays.items():
            if array.shape != shapes[name]:
                raise ValueError(f"{name} must have shape {shapes[name]}, got {array.shape}")
            if not np.isfinite(array).all():
                raise ValueError(f"{name} must be finite, got NaN or infinity")
        object.__setattr__(self, "parameters", arrays)

    @property
    def n_parameters(self) -> int:
        return sum(array.size for array in self.parameters.values())

    def layer(self, i: int) -> dict[str, Array]:
        """Return the parameters of one layer.

        Parameters
        ----------
        i : int
            Its index.

        Returns
        -------
        dict of str to array
            By their short names: ``W_Q``, …
        """
        prefix = f"layers.{i}."
        return {
            name.removeprefix(prefix): array
            for name, array in self.parameters.items()
            if name.startswith(prefix)
        }

    def rounded(self) -> Self:
        """Return the model with its parameters rounded to multiples of `GRID`.

        Returns
        -------
        Transformer
            What float16 holds exactly.
        """
        rounded = {name: np.rint(array / GRID) * GRID for name, array in self.parameters.items()}
        return type(self)(self.config, rounded)

    def save(self, path: str | Path, dtype: DTypeLike = np.float32) -> None:
        """Write the parameters as safetensors, the config in the file's metadata.

        Parameters
        ----------
        path : str or Path
            The file.
        dtype : dtype
            float16, float32 or float64.

        Raises
        ------
        ValueError
            If `dtype` is not one that `load` reads, or too narrow for a parameter.
        ImportError
            If the package safetensors is not there; `load` does not need it.
        """
        wanted = np.dtype(dtype)
        if wanted.newbyteorder("<").str not in files.DTYPES.values():
            raise ValueError(f"dtype must be float16, float32 or float64, got {wanted}")
        arrays = {}
        for name, array in self.parameters.items():
            with np.errstate(over="ignore"):
                arrays[name] = np.ascontiguousarray(array, wanted)
            if not np.isfinite(arrays[name]).all():
                raise ValueError(f"dtype {wanted} is too narrow for {name}: {abs(array).max():.6g}")
        files.write(path, arrays, {"config": json.dumps(asdict(self.config))})

    @classmethod
    def load(cls, path: str | Path, dtype: DTypeLike = np.float64) -> Self:
        """Read what `save` wrote; needs NumPy alone.

        Parameters
        ----------
        path : str or Path
            The file.
        dtype : dtype
            What the parameters become.

        Returns
        -------
        Transformer
            The model that was saved.

        Raises
        ------
        FileNotFoundError
            If there is no file at `path`.
        ValueError
            If the file is not a model that `save` wrote, or is damaged.
        """
        if not Path(path).is_file():
            raise FileNotFoundError(f"no model file at {path}")
        try:
            arrays, metadata = files.read(path)
            if "config" not in metadata:
                raise ValueError("its metadata holds no config")
            config = Config(**json.loads(metadata["config"]))
            if config.n_layers > len(arrays):
                raise ValueError(
                    f"its config has {config.n_layers} layers, but it holds only {len(arrays)} "
                    "arrays"
                )
            return cls(config, {name: array.astype(dtype) for name, array in arrays.items()})
        except (ValueError, TypeError, RecursionError) as error:
            pickled = files.looks_pickled(path)
            why = "a pickle can run code and is never read; give safetensors" if pickled else error
            raise ValueError(f"{path} is not a saved Transformer: {why}") from error
