"""What one step of each widget costs in a browser, and the same task done in other ways.

    python -m benchmarks.widgets [--html FOLDER] [--rounds N] [--peers] [--scripts FOLDER]

A page holds one widget with 32 tokens and a model of 3 layers and 8 heads (random weights, of the
size of the course's main model). A step is one event (a slider, a key in the text, a mask, a
head, the pointer on another cell) and all that follows in that frame: handlers, the forward pass,
drawing, layout, paint; measured in the page with performance.now. Each round makes 20 steps of each
kind; of the rounds' medians and 90th percentiles the smallest is printed, since other programs can
only add. "processor" is the time the page's main thread was at work for a step, two empty frames
included: what other programs take does not count there. The fixed loop (10 million multiplications
and additions) tells how fast the machine was meanwhile.

With --html (a built book) the time until the first widget of each lesson can be used is measured,
from file://. With --peers the same task (the weights of 8 heads, another layer chosen) is done by
`ipywidgets.interactive` and matplotlib in a live kernel, with --scripts by BertViz's head view.
BertViz is not among the course's requirements: `pip install --no-deps bertviz`. Its page fetches
three scripts from a network; here they come from the folder --scripts, made by
`npm install requirejs jquery@2 d3@5`.
"""

import argparse
import gzip
import json
import os
import re
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

import mhalib
from mhalib.widgets import (
    EmbeddingWidget,
    LayersWidget,
    MachineWidget,
    MultiHeadWidget,
    OwnHeadWidget,
    ScalingWidget,
    SingleHeadWidget,
    TokenizerWidget,
    VocabHeadWidget,
    base,
)
from mhalib.widgets.models import pack, shrink
from scripts.browser import launch

ROOT = Path(__file__).parent.parent

TEXT = " ".join(["bats cave"] * 16)  # 32 tokens
PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Widget</title>
<meta name="viewport" content="width=device-width">
<link rel="stylesheet" href="widgets.css"><script src="widgets.js"></script></head>
<body><main>{}</main></body></html>"""

# In the page. A frame: what was registered before the event runs first in it, and a message posted
# in it arrives after its paint.
MEASURE = """
window.find = (css, n = 0) => document.querySelectorAll(css)[n];
window.ACTIONS = {
  slide(css, k, n) {
    const range = find(css, n), steps = Number(range.max) + 1;
    range.value = (Math.floor(steps / 3) + k) % steps;
    range.dispatchEvent(new Event("input", { bubbles: true }));
  },
  type(css, k) {
    const area = find(css);
    area.value = area.value.slice(0, 5) + (k % 2 ? "bats" : "cave") + area.value.slice(9);
    area.dispatchEvent(new Event("input", { bubbles: true }));
  },
  click(css, k) {
    const all = document.querySelectorAll(css);
    all[k % all.length].click();
  },
  toggle(css) { find(css).click(); },
  press(css, k) {
    for (const key of [k % 2 ? "ArrowLeft" : "ArrowRight", " "])
      find(css).dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  },
  select(css, k) {
    const list = find(css);
    list.selectedIndex = (list.selectedIndex + 1) % list.options.length;
    list.dispatchEvent(new Event("change", { bubbles: true }));
  },
  pick(css, k) {
    const surface = find(css), box = surface.getBoundingClientRect();
    surface.dispatchEvent(new MouseEvent("click",
      { bubbles: true, clientX: box.left + 40, clientY: box.top + 80 + 40 * (k % 7) }));
  },
  hover(css, k, n) {
    const surface = find(css, n), box = surface.getBoundingClientRect();
    const at = ((k * 7) % 29) / 30 + 0.02;
    surface.dispatchEvent(new PointerEvent("pointermove",
      { bubbles: true, clientX: box.left + at * box.width, clientY: box.top + at * box.height }));
  },
};
window.step = (kind, css, k, n) => new Promise((done) => {
  requestAnimationFrame(() => {  // a fresh frame, so that the event is not in the middle of one
    setTimeout(() => {
      let start, handlers;
      requestAnimationFrame(() => {
        start = performance.now();
        const channel = new MessageChannel();
        channel.port1.onmessage = () => done(handlers + performance.now() - start);
        channel.port2.postMessage(0);
      });
      const before = performance.now();
      ACTIONS[kind](css, k, n);
      handlers = performance.now() - before;
    });
  });
});
window.calibrate = () => {
  const start = performance.now();
  let x = 0;
  for (let i = 0; i < 1e7; i++) x = x * 0.999 + i;
  return performance.now() - start + 0 * x;
};
"""
STEPS = """async ([[kind, css, n], first, count]) => {
  const times = [];
  for (let k = first; k < first + count; k++) times.push(await step(kind, css, k, n));
  return times;
}"""

# The time at which the first element CSS was painted, for a reader who goes to the widget at once.
FIRST = """
addEventListener("DOMContentLoaded", () =>
  document.querySelector("figure.mhalib-widget")?.scrollIntoView());
const look = () => requestAnimationFrame(document.querySelector("CSS")
  ? () => setTimeout(() => { window.usable = performance.now(); })
  : look);
look();
"""

TEXTAREA, MAP = ("type", "textarea, .mh-line-input", 0), "[role=application]"
WIDGETS = {
    "tokenizer": (
        lambda model: TokenizerWidget(text=TEXT),
        {"text": TEXTAREA, "merge": ("slide", "input[type=range]", 0)},
    ),
    "embedding": (
        lambda model: EmbeddingWidget(model=model),
        {
            "n": ("slide", "input[type=range]", 0),
            "d_model": ("slide", "input[type=range]", 1),
            "word": ("select", "select", 0),
            "hover": ("hover", MAP, 1),
        },
    ),
    "single head": (
        lambda model: SingleHeadWidget(model=model, text=TEXT, layer=2),
        {
            "text": ("type", ".mh-line-input", 0),
            "mask": ("click", "input[value=none], input[value=causal]", 0),
            "layer": ("click", "input[name^=mh-layer]", 0),
            "head": ("click", "input[name^=mh-head]", 0),
            "hover": ("hover", MAP, 0),
        },
    ),
    "head of one's own": (
        lambda model: OwnHeadWidget(model=model, text=TEXT, n=32, n_heads=8, d_k=8),
        {
            "text": TEXTAREA,
            "mask": ("select", ".mh-bar select", 0),
            "scale": ("select", ".mh-bar select", 1),
            "head": ("click", "input[name^=mh-head]", 0),
            "paint": ("press", MAP, 0),
            "hover": ("hover", MAP, 0),
        },
    ),
    "scaling": (
        lambda model: ScalingWidget(),
        {
            "d_k": ("slide", "input[type=range]", 0),
            "σ": ("slide", "input[type=range]", 1),
            "keys": ("slide", "input[type=range]", 2),
            "scale": ("click", "input[type=radio]", 0),
        },
    ),
    "multi-head": (
        lambda model: MultiHeadWidget(model=model, text=TEXT),
        {
            "text": TEXTAREA,
            "mask": ("click", "input[name^=mh-causal]", 0),
            "layer": ("click", "input[name^=mh-layer]", 0),
            "head off": ("toggle", ".mh-head-chips button", 0),
            "hover": ("hover", MAP, 0),
        },
    ),
    "layers": (
        lambda model: LayersWidget(model=model, text=TEXT, other=TEXT),
        {
            "text": TEXTAREA,
            "token": ("click", ".mh-follow button", 0),
            "hover": ("hover", ".mh-plane", 0),
        },
    ),
    "vocabulary head": (
        lambda model: VocabHeadWidget(model=model, text=TEXT),
        {
            "text": TEXTAREA,
            "temperature": ("slide", "input[type=range]", 0),
            "top-k": ("slide", "input[type=range]", 1),
            "hover": ("hover", ".mh-plane", 0),
        },
    ),
    "whole machine": (
        lambda model: MachineWidget(model=model, text=TEXT, off=["heads.0.0"]),
        {
            "text": ("type", ".mh-line-input", 0),
            "mask": ("click", ".mh-toggle:nth-child(2)", 0),
            "head off": ("click", ".mh-head-chip", 0),
            "token": ("pick", ".mh-plane", 0),
            "hover": ("hover", MAP, 0),
        },
    ),
}


def random_model(n_heads: int = 8, n_layers: int = 3) -> mhalib.Transformer:
    """Return a model of the size of the course's main one, with more heads."""
    vocab = mhalib.load_tokenizer().vocab_size
    config = mhalib.Config(vocab_size=vocab, d_model=64, n_heads=n_heads, n_layers=n_layers)
    parameters = mhalib.init_parameters(config, np.random.default_rng(8))
    return mhalib.Transformer(config, parameters).rounded()


def site(folder: Path, model: mhalib.Transformer) -> None:
    """Write a page for each widget, with the bundle and the weights beside it."""
    shutil.copytree(base.STATIC, folder, dirs_exist_ok=True)
    script = f"(globalThis.mhalibModels ??= {{}}).random = {json.dumps(shrink(pack(model)))};"
    (folder / "models" / "random.js").write_text(script)
    for name, (make, _) in WIDGETS.items():
        figure = make(model).html().replace('"model": null', '"model": "random"')
        (folder / f"{name}.html").write_text(PAGE.format(figure), "utf-8")


def open_page(browser: Browser, address: str) -> Page:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(120_000)
    page.on("pageerror", lambda error: sys.exit(f"{address}: {error}"))
    page.add_init_script(MEASURE)
    page.goto(address)
    page.mouse.move(1, 1)  # a reader's first sign
    page.locator(":is(.mh-controls, .mh-foot)").first.wait_for()
    return page


def quantile(times: list[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def measure_widgets(browser: Browser, folder: Path, rounds: int) -> list[float]:
    """Print a line for each kind of step; return the times of the fixed loop."""
    loops = []
    print(f"{'widget':18}{'step':14}{'median ms':>10}{'p90 ms':>9}{'processor ms':>15}")
    for name, (_, actions) in WIDGETS.items():
        page = open_page(browser, (folder / f"{name}.html").as_uri())
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        best = {kind: [float("inf")] * 3 for kind in actions}
        for turn in range(rounds + 1):  # the first one compiles
            loops.append(page.evaluate("calibrate()"))
            for kind, action in actions.items():
                before = busy(session)
                times = page.evaluate(STEPS, [list(action), 20 * turn, 20])
                spent = (busy(session) - before) / 20
                if turn:
                    now = [statistics.median(times), quantile(times, 0.9), spent]
                    best[kind] = [min(a, b) for a, b in zip(best[kind], now)]
        for kind, (median, p90, spent) in best.items():
            print(f"{name:18}{kind:14}{median:10.1f}{p90:9.1f}{spent:15.1f}", flush=True)
        page.close()
    return loops


def busy(session: CDPSession) -> float:
    """Return how long a page's main thread has been at work, in ms of the processor."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return 1000 * next(m["value"] for m in metrics if m["name"] == "TaskDuration")


def measure_first_use(browser: Browser, html: Path) -> None:
    """Print how long after opening each page its first widget had been drawn."""
    print(f"\n{'page, from file://':40}{'first widget usable, ms (best of 3)':>36}")
    for file in sorted(html.glob("chapters/*.html")):
        if 'class="mhalib-widget"' not in file.read_text("utf-8"):
            continue
        times = []
        for _ in range(3):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.set_default_timeout(120_000)
            page.add_init_script(FIRST.replace("CSS", "figure .mh-foot"))
            page.goto(file.as_uri())
            page.locator("figure .mh-foot").first.wait_for()
            page.wait_for_timeout(200)
            times.append(page.evaluate("window.usable"))
            page.close()
        print(f"{file.stem:40}{min(times):36.0f}", flush=True)


def measure_bertviz(
    browser: Browser, folder: Path, scripts: Path, model: mhalib.Transformer
) -> None:
    """Print what BertViz's head view costs for the same weights."""
    import torch
    from bertviz import head_view

    tokenizer = mhalib.load_tokenizer()
    ids = np.array(tokenizer.encode(TEXT))
    weights = [layer.attention.weights for layer in model.forward(ids).layers]
    html = head_view(
        [torch.tensor(w)[None] for w in weights],
        [tokenizer.decode([int(i)]) for i in ids],
        html_action="return",
    ).data
    file = folder / "bertviz.html"
    file.write_text(f'<!DOCTYPE html><meta charset="utf-8">{html}', "utf-8")
    local = {
        "require": scripts / "node_modules/requirejs/require.js",
        "jquery": scripts / "node_modules/jquery/dist/jquery.min.js",
        "d3": scripts / "node_modules/d3/dist/d3.min.js",
    }
    print(
        f"BertViz head view: page {len(gzip.compress(file.read_bytes(), 9)) / 1000:.0f} kB gzip, "
        f"scripts from a network {kilobytes(*local.values()):.0f} kB gzip"
    )
    first, changes = [], []
    for _ in range(3):
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(120_000)
        page.route(
            re.compile("^https?:"), lambda route: route.fulfill(path=next(
                path for name, path in local.items() if name in route.request.url))
        )  # fmt: skip
        page.add_init_script(MEASURE)
        page.add_init_script(FIRST.replace("CSS", "line"))
        page.goto(file.as_uri())
        page.locator("line").first.wait_for(state="attached")
        page.wait_for_timeout(500)
        first.append(page.evaluate("window.usable"))
        times = [page.evaluate("(k) => step('select', 'select', k, 0)", k) for k in range(12)]
        changes.append(statistics.median(times))
        page.close()
    print(f"  first drawn after {min(first):.0f} ms; another layer {min(changes):.0f} ms (median)")


KERNEL = f"""
%matplotlib inline
import sys, mhalib, ipywidgets
import matplotlib.pyplot as plt
sys.path.insert(0, {str(ROOT)!r})
from benchmarks.widgets import random_model
model, ids = random_model(), mhalib.load_tokenizer().encode({TEXT!r})
def show(layer):
    weights = model.forward(ids).layers[layer].attention.weights
    figure, axes = plt.subplots(2, 4, figsize=(12, 6))
    for ax, w in zip(axes.flat, weights):
        ax.imshow(w, cmap="Blues", vmin=0, vmax=1)
    plt.show()
both = ipywidgets.interactive(show, layer=(0, 2))
print(both.children[0].model_id)
"""


def measure_kernel() -> None:
    """Print how long ipywidgets and matplotlib take from a moved slider to the next picture."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")
    try:
        said: list[str] = []
        reply = client.execute_interactive(
            KERNEL,
            timeout=300,
            output_hook=lambda m: said.append(m["content"].get("text", "")),
        )
        if reply["content"]["status"] != "ok":
            raise RuntimeError(reply["content"]["evalue"])
        slider, times = "".join(said).split()[-1], []
        for k in range(15):
            state = {"method": "update", "state": {"value": k % 3}, "buffer_paths": []}
            message = client.session.msg("comm_msg", {"comm_id": slider, "data": state})
            start = time.perf_counter()
            client.shell_channel.send(message)
            while True:
                answer = client.get_iopub_msg(timeout=120)
                if "image/png" in answer["content"].get("data", {}):
                    break
            times.append(1000 * (time.perf_counter() - start))
        times = times[3:]
        print(
            f"ipywidgets.interactive and matplotlib: {statistics.median(times):.0f} ms median, "
            f"{min(times):.0f} at best, until the picture has left the kernel"
        )
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def kilobytes(*files: Path) -> float:
    return sum(len(gzip.compress(file.read_bytes(), 9)) for file in files) / 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", help="name of one widget")
    parser.add_argument("--html", type=Path, help="a built book")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--scripts", type=Path, help="folder with what BertViz fetches")
    options = parser.parse_args()
    if options.only:
        for name in set(WIDGETS) - {options.only}:
            del WIDGETS[name]
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = Path(temporary)
        site(folder, random_model())
        browser = launch(playwright)
        print(f"Chromium {browser.version}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        loops = measure_widgets(browser, folder, options.rounds) if options.rounds else []
        if loops:
            print(f"fixed loop: {min(loops):.0f} ms best, {statistics.median(loops):.0f} median")
        models = base.STATIC / "models"
        first = [models / f"{name}.js" for name in ("main", "tokenizer", "grammar")]
        print(f"JavaScript, gzip: {kilobytes(base.STATIC / 'widgets.js'):.1f} kB")
        print(f"weights, tokenizer and grammar, gzip: {kilobytes(*first):.1f} kB")
        if options.html:
            measure_first_use(browser, options.html)
        if options.peers:
            measure_kernel()
        if options.scripts:
            measure_bertviz(browser, folder, options.scripts, random_model())
        browser.close()


if __name__ == "__main__":
    main()
