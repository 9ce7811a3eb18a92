"""Wrong answers of lesson 4."""

import math

import numpy as np
import torch

from mutants.parts import mutant


@mutant("scores", "no scale")
def _(Q, K):
    return np.array([[sum(q * k) for k in K] for q in Q])


@mutant("scores", "divided by d_k")
def _(Q, K):
    return np.einsum("id,jd->ij", Q / np.sqrt(Q.shape[1]), K / np.sqrt(K.shape[1]))


@mutant("scores", "multiplied by √d_k")
def _(Q, K):
    return torch.einsum("id,jd->ij", Q, K) * K.shape[1] ** 0.5


@mutant("scores", "scale √n")
def _(Q, K):
    return Q @ K.T / np.sqrt(len(K))


@mutant("scores", "Q and K swapped")
def _(Q, K):
    return torch.matmul(K, Q.T) / math.sqrt(Q.shape[1])
