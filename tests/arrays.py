"""Arrays in the tests: drawn in one way, compared in one way, where nothing is broadcast."""

import numpy as np


def draw(*shape, seed=0):
    """Return normal numbers; another shape or seed gives others."""
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def plain(array):
    """Return a NumPy array of what NumPy, PyTorch or a list holds."""
    return np.asarray(array.detach() if hasattr(array, "detach") else array)


def assert_array(found, expected, *, rtol=1e-7, atol=0.0, name=""):
    """Refuse another shape, another dtype, or a value that is further off; NaN equals NaN.

    A list or a number has no dtype of its own: as `expected` it takes that of `found`.
    """
    own = hasattr(expected, "dtype")
    found, expected = plain(found), plain(expected)
    expected = expected if own else expected.astype(found.dtype)
    assert found.shape == expected.shape, f"{name} shape {found.shape}, not {expected.shape}"
    assert found.dtype == expected.dtype, f"{name} dtype {found.dtype}, not {expected.dtype}"
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol, err_msg=name)
