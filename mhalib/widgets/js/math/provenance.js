// What a number of a trace was computed from (the whole machine): its arithmetic in words, and the
// numbers it came from.

import { dot, row } from "./tensor.js";
import { fixed, fmt } from "./format.js";

/** A number that was only handed on. */
const same = (words, value, ref) => ({
  formula: `${words} = ${fixed(value, 4)}`,
  terms: [{ ref, what: "the same number" }],
});

export class Provenance {
  constructor(transformer, trace, ablate) {
    Object.assign(this, { transformer, trace, ablate, config: transformer.config });
  }

  /** The matrix a number is in, or undefined. */
  matrix({ layer, stage, head }) {
    const holder = layer === null ? this.trace : this.trace.layers[layer];
    return head === null ? holder?.[stage] : holder?.[stage]?.[head];
  }

  /** The number itself, or undefined if the trace has none of this name. */
  value(ref) {
    const A = this.matrix(ref);
    return A && ref.i < A.rows && ref.j < A.cols ? A.data[ref.i * A.cols + ref.j] : undefined;
  }

  /** { value, formula, terms: [{ ref, factor, product, what }] }: the largest products first. */
  explain(ref) {
    const value = this.value(ref);
    if (value === undefined) return null;
    const { formula, terms } = this[`_${ref.stage}`](ref, value);
    return { value, formula: formula.replaceAll("− −", "+ ").replaceAll("+ −", "− "), terms };
  }

  #from(stage, i, j, { layer = null, head = null } = {}) {
    return { stage, layer, head, i, j };
  }

  /** Σ_t A[i, t] · B[t]: `at(t)` names the numbers of A. */
  #products(numbers, factors, at, what) {
    return [...numbers]
      .map((number, t) => ({ ref: at(t), factor: factors[t], product: number * factors[t], what }))
      .filter(({ product }) => product !== 0)
      .sort((a, b) => Math.abs(b.product) - Math.abs(a.product));
  }

  #column(W, j) {
    return Float64Array.from({ length: W.rows }, (_, t) => W.data[t * W.cols + j]);
  }

  /** Where the stream comes from that enters a layer: [stage, layer]. */
  #streamInto(layer) {
    const before = this.#lastLayer(layer);
    return before === null ? ["X", null] : [this.#streamStage(), before];
  }

  /** The last layer before `end` that was not left out, or null. */
  #lastLayer(end) {
    const before = this.trace.layers.slice(0, end).findLastIndex(Boolean);
    return before < 0 ? null : before;
  }

  #streamStage() {
    return this.config.norm === "post" ? "norm_2" : "residual_2";
  }

  #input(layer, i, t) {
    const [stage, from] = this.config.norm === "pre" ? ["norm_1", layer] : this.#streamInto(layer);
    return this.#from(stage, i, t, { layer: from });
  }

  #inputRow(layer, i) {
    return row(this.matrix({ ...this.#input(layer, i, 0) }), i);
  }

  _probabilities({ i, j }, value) {
    const logits = row(this.trace.logits, i);
    const maximum = logits.reduce((a, b) => Math.max(a, b));
    const total = logits.reduce((sum, z) => sum + Math.exp(z - maximum), 0);
    return {
      formula: `softmax: exp(${fixed(logits[j], 3)} − ${fixed(maximum, 3)}) / Σ over all ${logits.length} tokens = ${fmt(Math.exp(logits[j] - maximum), 4)} / ${fixed(total, 4)} = ${fmt(value, 4)}`,
      terms: [{ ref: this.#from("logits", i, j), what: "its logit" }],
    };
  }

  _logits({ i, j }, value) {
    const e = row(this.transformer.parameters.E, j);
    const terms = this.#products(row(this.trace.output, i), e, (t) => this.#from("output", i, t), "× E");
    return { formula: `x · row ${j} of E = sum of ${e.length} products = ${fixed(value, 4)}`, terms };
  }

  _output({ layer: of, i, j }, value) {
    if (of !== null)
      return same(`the stream after layer ${of}`, value, this.#from(this.#streamStage(), i, j, { layer: of }));
    const layer = this.#lastLayer();
    const from = layer === null ? { layer, stage: "X" } : { layer, stage: this.#streamStage() };
    if (this.config.norm === "pre") return this.#norm("gamma_f", this.transformer.parameters, from, i, j, value);
    const after = layer === null ? "the embedding" : `layer ${layer}`;
    return same(`the stream after ${after}`, value, { head: null, i, j, ...from });
  }

  #norm(gamma, p, from, i, j, value) {
    if (this.ablate.norm) return same("no norm: the number itself", value, { head: null, i, j, ...from });
    const x = row(this.matrix({ head: null, ...from }), i);
    const average = x.reduce((sum, v) => sum + v, 0) / x.length;
    const deviation = Math.sqrt(x.reduce((sum, v) => sum + (v - average) ** 2, 0) / x.length + 1e-5);
    const [g, b] = [p[gamma].data[j], p[gamma.replace("gamma", "beta")].data[j]];
    return {
      formula: `γ · (x − mean) / spread + β = ${fixed(g, 3)} · (${fixed(x[j], 3)} − ${fixed(average, 3)}) / ${fixed(deviation, 3)} + ${fixed(b, 3)} = ${fixed(value, 4)}`,
      terms: [{ ref: { head: null, i, j, ...from }, what: "x, before the norm" }],
    };
  }

  _norm_1({ layer, i, j }, value) {
    const [stage, from] = this.config.norm === "post" ? ["residual_1", layer] : this.#streamInto(layer);
    return this.#norm("gamma_1", this.transformer.layers[layer], { stage, layer: from }, i, j, value);
  }

  _norm_2({ layer, i, j }, value) {
    const stage = this.config.norm === "post" ? "residual_2" : "residual_1";
    return this.#norm("gamma_2", this.transformer.layers[layer], { stage, layer }, i, j, value);
  }

  #residual(stream, correction, value) {
    const terms = [
      ...(this.ablate.residual ? [] : [{ ref: stream, product: this.value(stream), what: "the stream" }]),
      { ref: correction, product: this.value(correction), what: "the correction" },
    ];
    const sum = terms.map(({ product }) => fixed(product, 4)).join(" + ");
    return {
      formula: this.ablate.residual
        ? `no residual: the correction alone = ${fixed(value, 4)}`
        : `stream + correction = ${sum} = ${fixed(value, 4)}`,
      terms,
    };
  }

  _residual_1({ layer, i, j }, value) {
    const [stage, from] = this.#streamInto(layer);
    return this.#residual(this.#from(stage, i, j, { layer: from }), this.#from("O", i, j, { layer }), value);
  }

  _residual_2({ layer, i, j }, value) {
    const stage = this.config.norm === "post" ? "norm_1" : "residual_1";
    return this.#residual(this.#from(stage, i, j, { layer }), this.#from("ffn", i, j, { layer }), value);
  }

  _ffn({ layer, i, j }, value) {
    if (this.ablate.ffn?.includes(layer)) return { formula: "this feed-forward network is switched off: 0", terms: [] };
    const p = this.transformer.layers[layer];
    const hidden = row(this.matrix({ layer, stage: "ffn_hidden", head: null }), i);
    const terms = this.#products(
      hidden,
      this.#column(p.W_2, j),
      (t) => this.#from("ffn_hidden", i, t, { layer }),
      "× W_2",
    );
    return {
      formula: `hidden · column ${j} of W_2 + b_2 = ${fixed(value - p.b_2.data[j], 4)} + ${fixed(p.b_2.data[j], 4)} = ${fixed(value, 4)}; ${terms.length} of ${hidden.length} neurons are on`,
      terms,
    };
  }

  _ffn_hidden({ layer, i, j }, value) {
    const p = this.transformer.layers[layer];
    const stage = this.config.norm === "post" ? "norm_1" : "norm_2";
    const x = row(this.matrix({ layer, stage, head: null }), i);
    const w = this.#column(p.W_1, j);
    const before = dot(x, w) + p.b_1.data[j];
    return {
      formula: `${this.config.activation}(x · column ${j} of W_1 + b_1) = ${this.config.activation}(${fixed(before, 4)}) = ${fixed(value, 4)}`,
      terms: this.#products(x, w, (t) => this.#from(stage, i, t, { layer }), "× W_1"),
    };
  }

  _O({ layer, i, j }, value) {
    const { W_O } = this.transformer.layers[layer];
    if (this.ablate.W_O?.includes(layer))
      return same("no W_O: concat itself", value, this.#from("concat", i, j, { layer }));
    const side = row(this.matrix({ layer, stage: "concat", head: null }), i);
    return {
      formula: `concat(heads) · column ${j} of W_O = sum of ${side.length} products = ${fixed(value, 4)}`,
      terms: this.#products(side, this.#column(W_O, j), (t) => this.#from("concat", i, t, { layer }), "× W_O"),
    };
  }

  _concat({ layer, i, j }, value) {
    const width = this.config.d_v;
    const head = Math.floor(j / width);
    const from = this.#from("heads", i, j % width, { layer, head });
    return same(`column ${j} of concat is column ${j % width} of head ${head}`, value, from);
  }

  _heads({ layer, head, i, j }, value) {
    if (this.ablate.heads?.some(([l, k]) => l === layer && k === head))
      return { formula: "this head is switched off: 0", terms: [] };
    const weights = row(this.matrix({ layer, head, stage: "weights" }), i);
    const V = this.matrix({ layer, head, stage: "V" });
    const terms = this.#products(
      weights,
      this.#column(V, j),
      (t) => this.#from("V", t, j, { layer, head }),
      "weight ×",
    );
    for (const term of terms) term.factor = weights[term.ref.i];
    return {
      formula: `Σ weight × value over the tokens = ${fixed(value, 4)}`,
      terms: [
        ...terms,
        ...terms
          .slice(0, 3)
          .map(({ ref }) => ({ ref: this.#from("weights", i, ref.i, { layer, head }), what: "the weight" })),
      ],
    };
  }

  _weights({ layer, head, i, j }, value) {
    const S = this.matrix({ layer, head, stage: "scores" });
    const s = row(S, i);
    const W = row(this.matrix({ layer, head, stage: "weights" }), i);
    const seen = [...s].filter((_, k) => W[k] > 0 || k <= i || this.ablate.mask);
    const maximum = Math.max(...seen);
    if (value === 0 && j > i && !this.ablate.mask)
      return { formula: "the causal mask hides this token: weight 0, whatever the score", terms: [] };
    const total = seen.reduce((sum, v) => sum + Math.exp(v - maximum), 0);
    return {
      formula: `softmax over ${seen.length} tokens: exp(${fixed(s[j], 3)} − ${fixed(maximum, 3)}) / ${fixed(total, 4)} = ${fmt(value, 4)}`,
      terms: [{ ref: this.#from("scores", i, j, { layer, head }), what: "its score" }],
    };
  }

  _scores({ layer, head, i, j }, value) {
    const q = row(this.matrix({ layer, head, stage: "Q" }), i);
    const k = row(this.matrix({ layer, head, stage: "K" }), j);
    const scaled = this.config.scaled && !this.ablate.scale;
    const terms = this.#products(q, k, (t) => this.#from("Q", i, t, { layer, head }), "× key");
    return {
      formula: `q · k ${scaled ? `/ √${q.length} = ${fixed(dot(q, k), 4)} / ${fixed(Math.sqrt(q.length), 4)}` : "(no scale)"} = ${fixed(value, 4)}`,
      terms: [
        ...terms.slice(0, 6),
        ...terms.slice(0, 6).map(({ ref }) => ({ ref: this.#from("K", j, ref.j, { layer, head }), what: "the key’s" })),
      ],
    };
  }

  #projection(name, width, { layer, head, i, j }, value) {
    const x = this.#inputRow(layer, i);
    const w = this.#column(this.transformer.layers[layer][name], head * width + j);
    return {
      formula: `x · column ${head * width + j} of ${name} = sum of ${x.length} products = ${fixed(value, 4)}`,
      terms: this.#products(x, w, (t) => this.#input(layer, i, t), `× ${name}`),
    };
  }

  _Q(ref, value) {
    return this.#projection("W_Q", this.config.d_k, ref, value);
  }

  _K(ref, value) {
    return this.#projection("W_K", this.config.d_k, ref, value);
  }

  _V(ref, value) {
    return this.#projection("W_V", this.config.d_v, ref, value);
  }

  _X({ i, j }, value) {
    const [embedded, position] = [this.#from("embedded", i, j), this.#from("positions", i, j)];
    return {
      formula: `embedding + position = ${fixed(this.value(embedded), 4)} + ${fixed(this.value(position), 4)} = ${fixed(value, 4)}`,
      terms: [
        { ref: embedded, what: "embedding" },
        { ref: position, what: "position" },
      ],
    };
  }

  _embedded({ i, j }, value) {
    const id = this.trace.ids[i];
    const e = this.transformer.parameters.E.data[id * this.config.d_model + j];
    const scale = this.ablate.embedding_scale ? "" : ` × √${this.config.d_model}`;
    return {
      formula: `row ${id} of E, column ${j}${scale} = ${fixed(e, 5)}${scale} = ${fixed(value, 4)}. The id ${id} is where it starts.`,
      terms: [],
    };
  }

  _positions({ i, j }, value) {
    const d = this.config.d_model;
    if (value === 0 && (this.ablate.positions || this.config.positions === "none"))
      return { formula: "no positions: 0", terms: [] };
    return { formula: `${j % 2 ? "cos" : "sin"}(${i} / 10000^(${j - (j % 2)}/${d})) = ${fixed(value, 4)}`, terms: [] };
  }
}
