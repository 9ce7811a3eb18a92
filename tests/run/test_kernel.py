"""What a cell gives and how it fails: the kernel of the page, here without a browser."""

import sys
from itertools import groupby

import pytest


def text_of(items):
    return "".join(item["text"] for item in items if item["kind"] == "text")


def test_a_cell_prints_and_shows_its_last_value(ran):
    state, items = ran("x = 6\nprint('six')\nx * 7")
    assert state == "done" and text_of(items) == "six\n42\n"


def test_cells_share_their_names(ran):
    assert text_of(ran("def f(n):\n    return n + 1", "print(f(1))")[1]) == "2\n"


def test_none_is_not_shown_and_an_empty_cell_gives_nothing(ran):
    assert (
        ran("None") == ("done", []) and ran("") == ("done", []) and ran("# words") == ("done", [])
    )


def test_errors_name_the_readers_lines_only(ran):
    code = "import numpy as np\n\ndef f(a):\n    return np.linalg.inv(a)\n\nf(np.zeros((2, 2)))"
    state, items = ran("y = 1", code)
    (item,) = items
    assert state == "failed" and item["title"] == "LinAlgError" and item["line"] == 4
    assert item["text"] == (
        "Cell 2, line 6\n    f(np.zeros((2, 2)))\n"
        "Cell 2, line 4, in f\n    return np.linalg.inv(a)\n"
        "numpy.linalg.LinAlgError: Singular matrix"
    )


def test_an_error_in_an_earlier_cells_function_names_both_cells(ran):
    _, (item,) = ran("def f():\n    1 / 0", "\nf()")
    assert item["line"] == 2
    assert "Cell 2, line 2\n    f()\nCell 1, line 2, in f\n    1 / 0" in item["text"]


@pytest.mark.parametrize(
    ("code", "line", "said"),
    [
        ("x = 1\nprint(x", 2, "'(' was never closed"),
        ("if True:\nx = 1", 2, "expected an indented block"),
        ("if True:\n    x = 1\n\ty = 2", 3, "inconsistent use of tabs"),
        ("x = “1”", 1, "invalid character"),
        ("return 3", 1, "'return' outside function"),
        ("a\0b", None, "null bytes"),
    ],
)
def test_code_that_is_no_python(ran, code, line, said):
    state, (item,) = ran(code)
    assert state == "failed" and item["line"] == line and said in item["text"]


def test_windows_line_ends_tabs_and_names_in_any_script(ran):
    code = "def größe(ñ):\r\n\tif ñ:\r\n\t\treturn '✓ ' + ñ\r\n\r\nprint(größe('模型 🦇'))\r\n"
    assert text_of(ran(code)[1]) == "✓ 模型 🦇\n"


def test_output_without_end_is_stopped(ran, kernel_module):
    state, items = ran("while True:\n    print('again')")
    assert state == "failed" and items[-1]["kind"] == "note" and "never ends" in items[-1]["text"]
    assert len(text_of(items)) == kernel_module.LIMIT
    state, items = ran("print('x' * 10**7)")
    assert state == "failed" and len(text_of(items)) == kernel_module.LIMIT


def test_a_reader_cannot_catch_the_stop(ran):
    state, _ = ran(
        "while True:\n    try:\n        print('x' * 1000)\n    except Exception:\n        pass"
    )
    assert state == "failed"


def test_long_output_comes_in_few_parts(ran):
    _, items = ran("for i in range(20_000): print(i % 10, end='')")
    assert len(text_of(items)) == 20_000 and len(items) < 200


def test_deep_recursion(ran):
    _, (item,) = ran("def f(n):\n    return f(n + 1)\n\nf(0)")
    assert item["title"] == "RecursionError" and "calls itself" in item["text"]
    assert len(item["text"].splitlines()) < 30 and item["line"] == 2


def test_too_much_memory(ran):
    _, (item,) = ran("raise MemoryError")
    assert "more memory than a page has" in item["text"]


def test_input_exit_and_stderr(ran):
    _, (item,) = ran("input('name? ')")
    assert "Write the value into the code" in item["text"] and item["line"] == 1
    _, (item,) = ran("import sys\nsys.exit(3)")
    assert "ended itself" in item["text"]
    _, (item,) = ran("import sys\nprint('careful', file=sys.stderr)")
    assert item == {"kind": "text", "stream": "stderr", "text": "careful\n"}
    _, (item,) = ran("import warnings\nwarnings.warn('old')")
    assert item["stream"] == "stderr" and item["text"] == "UserWarning: old\n"


def test_what_was_printed_before_an_error_comes_first(ran):
    _, items = ran("print('before')\n1 / 0")
    assert [item["kind"] for item in items] == ["text", "error"]


def test_streams_are_given_back(ran):
    before = sys.stdout, sys.stderr, input
    ran("print(1)\n1 / 0")
    assert (sys.stdout, sys.stderr, input) == before


def test_only_the_librarys_classes_give_html(ran):
    code = "class Fake:\n    _repr_html_ = html = __repr__ = lambda self: '<i>'\nFake()"
    assert ran(code)[1] == [{"kind": "text", "stream": "stdout", "text": "<i>\n"}]
    code = "from mhalib.checks import check\ncheck('split_heads', lambda X, n_heads: ...)"
    (item,) = ran(code)[1]
    assert item["kind"] == "html" and item["ok"] is False and "Not solved yet" in item["text"]


def test_a_widget_gives_the_figure_of_the_page(ran):
    from mhalib.widgets import ScalingWidget

    (item,) = ran("from mhalib.widgets import ScalingWidget\nScalingWidget(d_k=64)")[1]
    assert item["html"] == ScalingWidget(d_k=64).html()


def test_what_a_reader_prints_is_data_not_html(ran):
    (item,) = ran("print('<script>alert(1)</script>')")[1]
    assert item["kind"] == "text"


def test_quiet_cells_define_but_say_nothing_unless_they_fail(ran):
    assert ran("print(1)\n2", quiet=True) == ("done", [])
    assert [item["kind"] for item in ran("print(1)\n1 / 0", quiet=True)[1]] == ["error"]


# ---- PyTorch is not there -----------------------------------------------------------------------
TORCH = """import numpy as np
import torch
from torch import nn
import mhalib.torch as mt
from torch.nn import functional as F
"""


def test_importing_torch_alone_does_no_harm(ran):
    assert text_of(ran(TORCH, "print(np.arange(3).sum())")[1]) == "3\n"


@pytest.mark.parametrize(
    "code", ["torch.ones(3)", "class Net(nn.Module): pass", "mt.attention", "F.relu(1)"]
)
def test_a_cell_that_uses_torch_says_where_it_runs(ran, code):
    state, (item,) = ran(TORCH, code)
    assert state == "torch" and item["kind"] == "torch" and "Jupyter" in item["text"]


def test_names_that_only_torch_would_have_given(ran):
    state, (first, item) = ran(TORCH, "net = torch.ones(3)", "print(net)")
    assert state == "torch" and item["kind"] == "torch"
    state, items = ran(TORCH, "net = torch.ones(3)", "print(nett)")
    assert state == "failed" and items[-1]["title"] == "NameError"
    # what a cell with PyTorch had begun to fill
    state, (_, item) = ran(TORCH, "runs = {}\nruns[1] = torch.ones(3)", "print(runs[1])")
    assert state == "torch" and "uses runs from a cell that needs PyTorch" in item["text"]
    state, (_, item) = ran(TORCH, "net = torch.ones(3)", "net = 3", "net[1]")
    assert state == "failed" and item["title"] == "TypeError"


def test_mhalib_stays_what_it_is_where_its_torch_part_is_imported(ran):
    state, items = ran("import mhalib.torch", "print(mhalib.softmax([0.0]))")
    assert state == "done" and text_of(items) == "[1.]\n"


# ---- what is loaded when it is needed -----------------------------------------------------------
@pytest.mark.parametrize(
    ("codes", "needs"),
    [
        (["from mhalib import language, plots"], []),
        (["from mhalib import plots", "plots.heatmap([[1.0]])"], ["matplotlib"]),
        (["from mhalib import plots as p", "p.plt.show()"], ["matplotlib"]),
        (["import mhalib", "mhalib.plots.lines"], ["matplotlib"]),
        (["import matplotlib.pyplot as plt"], []),
        (["import matplotlib.pyplot as plt", "plt.plot([1])"], ["matplotlib"]),
        (["import matplotlib"], ["matplotlib"]),
        (["from matplotlib import pyplot", "pyplot.plot([1])"], ["matplotlib"]),
        (["from mhalib.widgets import ScalingWidget"], ["models", "widgets"]),
        (["from mhalib import widgets", "widgets.ScalingWidget()"], ["models", "widgets"]),
        (["mhalib.load_model()"], []),
        (["mhalib.load_model('main', dtype)"], []),
        (['mhalib.load_model("pre-norm")'], ["models"]),
        (["[mhalib.load_model(name) for name in names]"], ["models"]),
        (["print('plots')", "plots = 3"], []),
        (["(("], []),
    ],
)
def test_what_a_cell_needs(kernel_module, monkeypatch, codes, needs):
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    kernel = kernel_module.Kernel(lambda item: None)
    for code in codes[:-1]:
        kernel.run(code, "cell 1")
    assert kernel.missing(codes[-1]) == needs


def test_the_course_module_comes_at_its_first_use(ran):
    state, items = ran("from mhalib import plots", "print(plots.SHARES)", loaded=())
    assert state == "done" and text_of(items) == "Blues\n"


def test_figures_become_pictures_in_the_order_of_the_output(kernel_module, monkeypatch):
    from matplotlib import pyplot

    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(pyplot, "show", pyplot.show)
    items = []
    kernel = kernel_module.Kernel(items.append)
    kernel.load("matplotlib")
    code = "from mhalib import plots\nprint('a')\nplots.heatmap([[1.0]])\n{}\nprint('b')"
    kernel.run(code.format("plots.plt.show()"), "cell 1")
    kinds = [kind for kind, _ in groupby(items, key=lambda item: item["kind"])]
    assert kinds == ["text", "png", "text"]
    (picture,) = (item["data"] for item in items if item["kind"] == "png")
    assert picture.startswith("iVBORw0KGgo")
    items.clear()
    kernel.run(code.format(""), "cell 1")  # what is not shown is shown at the end
    assert [kind for kind, _ in groupby(items, key=lambda item: item["kind"])] == ["text", "png"]
    items.clear()
    kernel.run(code.format(""), "cell 1", quiet=True)
    assert not items and not pyplot.get_fignums()


# ---- exercises: which cells above they need -----------------------------------------------------
CELLS = [
    "import numpy as np\nimport mhalib",
    "print('not needed')",
    "def mine(x):\n    return np.exp(x)",
    "(( a cell in the middle of writing",
    "mine = 3",
    "def other(x):\n    return mhalib.softmax(x)",
    "def answer(x):\n    return other(x) + len(x)\ncheck('x', answer)",
]


def test_an_exercise_needs_the_cells_that_give_its_names(kernel_module):
    needed_for = sys.modules["course_run.names"].needed_for
    assert needed_for(CELLS, 6) == [0, 5]
    assert needed_for(CELLS, 2) == [0]
    assert needed_for([*CELLS[:3], "mine(1)"], 3) == [0, 2]
    assert needed_for(["x = 1"], 0) == []
