"""Wrong answers of lesson 2."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from mutants.parts import mutant


@mutant("embed", "×√d_model forgotten")
def _(ids, E):
    return np.stack([E[i] for i in ids])


@mutant("embed", "multiplied by d_model")
def _(ids, E):
    return F.embedding(ids, E) * E.shape[1]


@mutant("embed", "√V instead of √d_model")
def _(ids, E):
    return torch.nn.functional.one_hot(ids, len(E)).to(E.dtype) @ E * math.sqrt(len(E))


@mutant("sinusoidal_positions", "an exponent of its own for each column")
def _(n, d_model):
    P = np.zeros((n, d_model))
    for pos in range(n):
        for i in range(d_model):
            angle = pos / 10000 ** (2 * i / d_model)
            P[pos, i] = math.cos(angle) if i % 2 else math.sin(angle)
    return P


@mutant("sinusoidal_positions", "exponent grows with the column")
def _(n, d_model):
    i = torch.arange(d_model)
    angles = torch.arange(n)[:, None] / 10000.0 ** (i / d_model)
    return torch.where(i % 2 == 0, angles.sin(), angles.cos())


@mutant("sinusoidal_positions", "the last sine is missing for an odd d_model")
def _(n, d_model):
    P = np.zeros((n, d_model))
    for pos in range(n):
        for i in range(d_model // 2):
            angle = pos / 10000 ** (2 * i / d_model)
            P[pos, 2 * i], P[pos, 2 * i + 1] = math.sin(angle), math.cos(angle)
    return P


@mutant("sinusoidal_positions", "all sines first")
def _(n, d_model):
    angles = np.outer(np.arange(n), 1 / 10000 ** (np.arange(0, d_model, 2) / d_model))
    return np.hstack([np.sin(angles), np.cos(angles)])[:, :d_model]


@mutant("sinusoidal_positions", "positions counted from 1")
def _(n, d_model):
    P = np.empty((n, d_model))
    for pos in range(1, n + 1):
        for i in range(d_model):
            angle = pos / 10000 ** ((i - i % 2) / d_model)
            P[pos - 1, i] = math.cos(angle) if i % 2 else math.sin(angle)
    return P


@mutant("sinusoidal_positions", "sine and cosine exchanged")
def _(n, d_model):
    i = np.arange(d_model)
    return np.cos(np.arange(n)[:, None] / 10000 ** ((i - i % 2) / d_model) - (i % 2) * np.pi / 2)
