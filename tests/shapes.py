"""The library's annotations hold: jaxtyping's shapes, checked by beartype at each call.

The library imports jaxtyping for type checkers alone. Here it is imported for real, and each
function is wrapped: it runs first, so that its own errors stay what they are, and then arguments
and result are held against its annotations, all axes of one call together. A list counts as the
array that it stands for. A function of `mhalib.torch` is held against the annotations of its twin
in NumPy: the two have the same shapes.
"""

import dataclasses
import functools
import inspect
import sys
import types
import typing

import jaxtyping
import numpy as np
import torch
from beartype import BeartypeConf
from beartype.door import is_bearable
from jaxtyping import jaxtyped

MODULES = ["embedding", "softmax", "masks", "attention", "heads", "multihead", "activations",
           "layers", "vocab", "sampling", "model.config", "model.padding", "model.ablation",
           "model.trace", "model.parameters", "model.transformer"]  # fmt: skip
IN_TORCH = ["embedding", "softmax", "masks", "attention", "heads", "multihead", "activations",
            "layers", "vocab", "model"]  # fmt: skip
METHODS = {"trace": "forward", "decode": "decode"}  # of torch's Transformer: as in NumPy
TOWER = BeartypeConf(is_pep484_tower=True)  # an int is a float
COUNT = {}  # calls that were checked, by function


class WrongAnnotation(AssertionError):
    """What an annotation says is not what was passed or returned."""


def import_with_shapes():
    """Import the library with its shapes, as a type checker does."""
    assert "mhalib" not in sys.modules
    typing.TYPE_CHECKING = True
    try:
        import mhalib
    finally:
        typing.TYPE_CHECKING = False
    import mhalib.torch  # noqa: F401


def plain(value):
    """Return what a tensor holds as an array, also in a pair or a cache."""
    if isinstance(value, torch.Tensor):
        value = value.detach()
        return (value.float() if value.dtype == torch.bfloat16 else value).numpy()
    if isinstance(value, sys.modules["mhalib.model.trace"].Cache):
        return type(value)(map(plain, value), plain(value.real))
    return tuple(map(plain, value)) if type(value) is tuple else value


def holds(value, hint):
    """Return whether `value`, or what it stands for, is as annotated."""
    if is_bearable(value, hint, conf=TOWER):
        return True
    if type(value) is tuple:
        arrays = tuple(np.asarray(v) if type(v) is list else v for v in value)
        return is_bearable(arrays, hint)
    if isinstance(value, np.generic | np.ndarray) and value.ndim == 0:
        return is_bearable(value.item(), hint, conf=TOWER) or is_bearable(np.asarray(value), hint)
    if not isinstance(value, list | int | float):
        return False
    array = np.asarray(value)  # an empty list has no dtype of its own
    return is_bearable(array if array.size else array.astype(int), hint)


def fields(result):
    """Return (name, value, hint) for each array of a trace."""
    module = sys.modules[type(result).__module__]
    names = vars(module) | {"A": np.ndarray}
    for field in dataclasses.fields(result):
        value = plain(getattr(result, field.name))
        if isinstance(value, np.ndarray):
            yield field.name, value, eval(field.type, names)


def checked(function, twin=None):
    """Return `function` with its annotations, or its twin's, held against each accepted call."""
    twin = twin or function
    hints = typing.get_type_hints(twin, vars(jaxtyping) | twin.__globals__)
    signature = inspect.signature(function)
    name = f"{function.__module__}.{function.__qualname__}"
    results = []

    def call(*args, **kwargs):
        results.append(function(*args, **kwargs))
        try:
            scope(*args, **kwargs)
        finally:
            result = results.pop()
        return result

    def compare(*args, **kwargs):
        result, bound = results[-1], signature.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = bound.arguments
        for key, value in arguments.items():
            kind = signature.parameters[key].kind
            if key in hints and kind not in (kind.VAR_KEYWORD, kind.VAR_POSITIONAL):
                demand(f"{name}: {key}", plain(value), hints[key])
        if "return" in hints:
            demand(f"{name}: the result", plain(result), hints["return"])
        if dataclasses.is_dataclass(result):
            for key, value, hint in fields(result):
                demand(f"{name}: {key} of the result", value, hint)
        COUNT[name] = COUNT.get(name, 0) + 1

    compare.__signature__ = signature
    scope = jaxtyped(compare, typechecker=None)  # the axes of one call, and its arguments by name

    # with the globals of the module, so that doctest takes it for the module's own
    own = types.FunctionType(
        call.__code__, function.__globals__, function.__name__, None, call.__closure__
    )
    return functools.wraps(function)(own)


def demand(what, value, hint):
    if not holds(value, hint):
        shown = f"{value.dtype}{value.shape}" if isinstance(value, np.ndarray) else repr(value)[:80]
        raise WrongAnnotation(f"{what} is annotated {hint}, got {shown}")


def install():
    """Wrap the functions of all modules, wherever they were imported to."""
    import_with_shapes()
    wrapped = {}
    for name in MODULES:
        module = sys.modules[f"mhalib.{name}"]
        for thing in vars(module).values():
            if inspect.isfunction(thing) and thing.__module__ == module.__name__:
                wrapped.setdefault(thing, checked(thing))
            elif inspect.isclass(thing) and thing.__module__ == module.__name__:
                for key, method in list(vars(thing).items()):
                    if inspect.isfunction(method) and not key.startswith("__"):
                        setattr(thing, key, checked(method))
    twins = {name: thing for name in MODULES for name, thing in
             vars(sys.modules[f"mhalib.{name}"]).items() if inspect.isfunction(thing)}  # fmt: skip
    for name in IN_TORCH:
        module = sys.modules[f"mhalib.torch.{name}"]
        for key, thing in vars(module).items():
            own = inspect.isfunction(thing) and thing.__module__ == module.__name__
            if own and key in twins:
                wrapped.setdefault(thing, checked(thing, twins[key]))
    ours, theirs = sys.modules["mhalib.torch.model"].Transformer, sys.modules["mhalib"].Transformer
    for key, other in METHODS.items():
        twin = inspect.unwrap(getattr(theirs, other))
        setattr(ours, key, checked(getattr(ours, key), twin))
    for name, module in list(sys.modules.items()):
        if name == "mhalib" or name.startswith("mhalib."):
            for key, thing in list(vars(module).items()):
                if inspect.isfunction(thing) and thing in wrapped:
                    setattr(module, key, wrapped[thing])
                elif type(thing) is dict:
                    for part, value in thing.items():
                        if inspect.isfunction(value) and value in wrapped:
                            thing[part] = wrapped[value]
