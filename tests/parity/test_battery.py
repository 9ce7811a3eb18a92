"""`mhalib.torch` beside `mhalib`, at the edges: see `battery`, which prints this as a table."""

import battery
import pytest
import torch

import mhalib


@pytest.mark.parametrize("title", battery.FUNCTIONS)
def test_the_two_agree_or_refuse_alike(title):
    name, arguments = battery.FUNCTIONS[title]
    faults = []
    for kind_of_input, replaced, given in battery.inputs(arguments):
        result = battery.verdict(name, given, replaced)
        if result not in ("agree", "refuse"):
            faults.append(f"{kind_of_input} as {replaced or 'they are'}: {result}")
    assert not faults, "\n".join(faults)


def test_every_function_is_in_the_battery():
    functions = {name for name in mhalib.torch.__all__ if name[0].islower()}
    assert functions == {name for name, _ in battery.FUNCTIONS.values()}


@pytest.mark.parametrize("title", ["attention, mask", "cross_entropy", "embed"])
def test_a_fault_is_seen(title, monkeypatch):
    """Another value, another dtype, another error: each is told from agreement."""
    name, arguments = battery.FUNCTIONS[title]
    right = getattr(mhalib.torch, name)

    def refuse(**given):
        raise RuntimeError("no")

    for wrong in (
        lambda **given: right(**given) + 1e-3,
        lambda **given: right(**given).to(torch.bfloat16).float(),
        refuse,
    ):
        monkeypatch.setattr(mhalib.torch, name, wrong)
        assert battery.verdict(name, arguments, "") not in ("agree", "refuse")
