"""Wrong answers of lesson 6."""

import numpy as np
import torch
import torch.nn.functional as F

from mutants.parts import mutant


@mutant("layer_norm", "variance divided by n − 1")
def _(X, gamma, beta, eps):
    return gamma * (X - X.mean(-1, keepdim=True)) / torch.sqrt(X.var(-1, keepdim=True) + eps) + beta


@mutant("layer_norm", "eps outside the root")
def _(X, gamma, beta, eps):
    return gamma * (X - X.mean(-1, keepdims=True)) / (X.std(-1, keepdims=True) + eps) + beta


@mutant("layer_norm", "eps left out")
def _(X, gamma, beta, eps):
    return gamma * (X - X.mean(-1, keepdims=True)) / X.std(-1, keepdims=True) + beta


@mutant("layer_norm", "over the tokens, not the features")
def _(X, gamma, beta, eps):
    return gamma * (X - X.mean(0)) / np.sqrt(X.var(0) + eps) + beta


@mutant("layer_norm", "over everything")
def _(X, gamma, beta, eps):
    return (X - X.mean()) / (X.var(correction=0) + eps).sqrt() * gamma + beta


@mutant("layer_norm", "divided by the variance")
def _(X, gamma, beta, eps):
    return gamma * (X - X.mean(-1, keepdims=True)) / (X.var(-1, keepdims=True) + eps) + beta


@mutant("layer_norm", "mean not subtracted")
def _(X, gamma, beta, eps):
    return F.rms_norm(X, X.shape[-1:], gamma, eps) + beta


@mutant("layer_norm", "gamma and beta left out")
def _(X, gamma, beta, eps):
    return F.layer_norm(X, X.shape[-1:], eps=eps)


@mutant("feed_forward", "no activation")
def _(X, W_1, b_1, W_2, b_2):
    return X @ (W_1 @ W_2) + b_1 @ W_2 + b_2


@mutant("feed_forward", "activation after the second layer")
def _(X, W_1, b_1, W_2, b_2):
    return F.relu((X @ W_1 + b_1) @ W_2 + b_2)


@mutant("feed_forward", "b_1 left out")
def _(X, W_1, b_1, W_2, b_2):
    return np.maximum(X @ W_1, 0) @ W_2 + b_2


@mutant("feed_forward", "b_2 left out")
def _(X, W_1, b_1, W_2, b_2):
    return F.linear(F.relu(F.linear(X, W_1.T, b_1)), W_2.T)


@mutant("feed_forward", "GELU instead of ReLU")
def _(X, W_1, b_1, W_2, b_2):
    return F.gelu(X @ W_1 + b_1) @ W_2 + b_2


@mutant("post_norm_block", "pre-norm")
def _(X, attend, feed_forward, norm_1, norm_2):
    X = X + attend(norm_1(X))
    return X + feed_forward(norm_2(X))


@mutant("post_norm_block", "no residual")
def _(X, attend, feed_forward, norm_1, norm_2):
    for sublayer, norm in ((attend, norm_1), (feed_forward, norm_2)):
        X = norm(sublayer(X))
    return X


@mutant("post_norm_block", "second residual from the block's input")
def _(X, attend, feed_forward, norm_1, norm_2):
    return norm_2(X + feed_forward(norm_1(X + attend(X))))


@mutant("post_norm_block", "second norm missing")
def _(X, attend, feed_forward, norm_1, norm_2):
    X = norm_1(X + attend(X))
    return X + feed_forward(X)


@mutant("post_norm_block", "norms exchanged")
def _(X, attend, feed_forward, norm_1, norm_2):
    X = norm_2(X + attend(X))
    return norm_1(X + feed_forward(X))


@mutant("pre_norm_block", "residual from the normed input")
def _(X, attend, feed_forward, norm_1, norm_2):
    for sublayer, norm in ((attend, norm_1), (feed_forward, norm_2)):
        X = norm(X)
        X = X + sublayer(X)
    return X


@mutant("pre_norm_block", "post-norm")
def _(X, attend, feed_forward, norm_1, norm_2):
    for sublayer, norm in ((attend, norm_1), (feed_forward, norm_2)):
        X = norm(X + sublayer(X))
    return X


@mutant("pre_norm_block", "no residual around the feed-forward")
def _(X, attend, feed_forward, norm_1, norm_2):
    return feed_forward(norm_2(X + attend(norm_1(X))))


@mutant("pre_norm_block", "attention and feed-forward side by side")
def _(X, attend, feed_forward, norm_1, norm_2):
    return attend(norm_1(X)) + feed_forward(norm_2(X)) + X


@mutant("layer_norm", "the larger of variance and eps")
def _(X, gamma, beta, eps):
    centred = X - X.mean(-1, keepdims=True)
    spread = np.sqrt(np.clip((centred**2).mean(-1, keepdims=True), eps, None))
    return centred / spread * gamma + beta


@mutant("feed_forward", "the largest of the tokens instead of ReLU")
def _(X, W_1, b_1, W_2, b_2):
    return np.max(X @ W_1 + b_1, 0) @ W_2 + b_2


@mutant("post_norm_block", "second residual from before the norm")
def _(X, attend, feed_forward, norm_1, norm_2):
    stream = X + attend(X)
    stream = stream + feed_forward(norm_1(stream))
    return norm_2(stream)
