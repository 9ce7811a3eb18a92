"""Model files: safetensors, read with NumPy alone.

A file is the length of its header (8 bytes, the lowest first), the header (JSON: the dtype, shape
and place of each array), then the numbers of one array after the other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2"}


def read(path: str | Path) -> tuple[dict[str, Array], dict[str, str]]:
    """Return the arrays of a safetensors file by their names, and its metadata.

    The arrays are views of the bytes that were read, and cannot be written to.

    Raises
    ------
    ValueError
        If the file is cut off, has bytes to spare, or is not a safetensors file of floats.
    """
    content = Path(path).read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")  # of the header, then of each array
    if len(content) < max(8, end):
        raise ValueError(
            f"its header should end at byte {end}, but the file has {len(content)} bytes"
        )
    try:
        header = json.loads(content[8:end])
        metadata = dict(header.pop("__metadata__", {}))
        places = {name: tuple(entry["data_offsets"]) for name, entry in header.items()}
        arrays, first = {}, end
        for name in sorted(places, key=places.__getitem__):
            dtype, shape = np.dtype(DTYPES[header[name]["dtype"]]), header[name]["shape"]
            start, stop = (first + offset for offset in places[name])
            if start != end or stop > len(content) or stop - start != dtype.itemsize * prod(shape):
                raise ValueError(f"{name} {shape} cannot stand at bytes {start} to {stop}")
            arrays[name] = np.frombuffer(content[start:stop], dtype).reshape(shape)
            end = stop
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"its header cannot be read, {type(error).__name__}: {error}") from error
    if end != len(content):
        raise ValueError(
            f"its last array ends at byte {end}, but the file has {len(content)} bytes"
        )
    return arrays, metadata


def write(path: str | Path, arrays: Mapping[str, Array], metadata: Mapping[str, str]) -> None:
    """Write a safetensors file, which takes the place of an old one when it is complete.

    Raises
    ------
    ImportError
        If the package safetensors is not there.
    """
    try:
        save = import_module("safetensors.numpy").save
    except ImportError as error:
        raise ImportError("writing a model needs safetensors: pip install safetensors") from error
    path = Path(path)
    part = path.with_name(path.name + ".part")
    part.write_bytes(save(dict(arrays), metadata=dict(metadata)))
    part.replace(path)


def looks_pickled(path: str | Path) -> bool:
    """Tell whether a file begins like a pickle, or like the zip that torch puts one in."""
    with open(path, "rb") as raw:
        start = raw.read(9)  # of safetensors: the header's length, then the header
    return start.startswith((b"PK", b"\x80")) and not start.endswith(b"{")
