// Numbers as text, for reading.

const SUPERSCRIPT = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

/** A number for reading: `digits` significant digits, a true minus sign, powers of ten in words of ten. */
export function fmt(value, digits = 3) {
  if (value === Infinity) return "∞";
  if (value === -Infinity) return "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  let text;
  if (size < 1e-4 || size >= 1e6) {
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
    text = `${mantissa}·10${[...String(Number(exponent))].map((c) => SUPERSCRIPT[c]).join("")}`;
  } else {
    const places = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
    text = value.toFixed(Math.min(places, 8));
  }
  return text.replace("-", "−");
}

/** A number with a fixed count of decimals. */
export function fixed(value, places) {
  return (value < 0 && Number(value.toFixed(places)) === 0 ? 0 : value).toFixed(places).replace("-", "−");
}
