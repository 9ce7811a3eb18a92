"""What the wrong answers share: the list of them, and steps of attention in plain Python."""

import math

import numpy as np

MUTANTS = []


def mutant(exercise, name):
    """Register a wrong answer to `exercise`, whose mistake has this `name`."""

    def register(function):
        MUTANTS.append((exercise, name, function))
        return function

    return register


def shares(rows):
    """Softmax of each row of a matrix, in plain Python; −∞ gets nothing."""
    out = []
    for row in rows:
        e = [math.exp(v) for v in row]
        out.append([v / sum(e) for v in e])
    return np.array(out)


def attend(Q, K, V, mask, scale, values=None):
    """Attention of readers: −∞, loops over the queries, an empty row is 0."""
    out = []
    for i, q in enumerate(Q):
        s = np.array([q @ k for k in K]) * scale
        seen = np.ones(len(K), bool) if mask is None else mask[i]
        e = np.where(seen, np.exp(s - s.max()), 0.0)
        out.append(e / (e.sum() or 1) @ V)
    return np.array(out)
