// What can be switched off, by its name in `off`: what `Transformer.forward` takes out, and how it is called.

export const SWITCHES = {
  scale: "÷ √`d_k`",
  mask: "causal mask",
  positions: "positions",
  embedding_scale: "× √`d_model`",
  residual: "residual",
  norm: "layer norm",
};

/** ["scale", "heads.0.1", "W_O.2", "ffn.0", "layers.1"] as what `Transformer.forward` takes out. */
export function ablation(off, { n_layers: N, n_heads: H }) {
  const ablate = { heads: [], W_O: [], ffn: [], layers: [] };
  for (const name of off) {
    const [kind, layer, head] = name.split(".");
    if (Object.hasOwn(SWITCHES, kind)) ablate[kind] = true;
    else if (!(Number(layer) >= 0 && Number(layer) < N)) continue;
    else if (kind === "heads" && Number(head) >= 0 && Number(head) < H)
      ablate.heads.push([Number(layer), Number(head)]);
    else if (["W_O", "ffn", "layers"].includes(kind)) ablate[kind].push(Number(layer));
  }
  return ablate;
}

/** "heads.1.1" as "layer 1, head 1". */
export function nameOfSwitch(name) {
  const [kind, layer, head] = name.split(".");
  if (Object.hasOwn(SWITCHES, kind)) return SWITCHES[kind].replaceAll("`", "");
  return { heads: `layer ${layer}, head ${head}`, layers: `layer ${layer}`, W_O: `layer ${layer}, W_O`, ffn: `layer ${layer}, FFN` }[kind]; // prettier-ignore
}

export const isOff = (off, kind, ...at) => off.includes([kind, ...at].join("."));
