// What charts are made of: colours, round numbers on axes, outlines of curves and bands.

// From low risk to high: blue over grey to orange, told apart with any colour vision, and dark enough for lines.
const RISK_COLOURS = [[27, 94, 158], [74, 131, 178], [125, 129, 133], [199, 120, 42], [170, 75, 10]];

export function riskColour(share) {
  const position = Math.min(Math.max(share, 0), 1) * (RISK_COLOURS.length - 1);
  const first = Math.min(Math.floor(position), RISK_COLOURS.length - 2), rest = position - first;
  const mix = RISK_COLOURS[first].map((c, i) => Math.round(c + rest * (RISK_COLOURS[first + 1][i] - c)));
  return `rgb(${mix.join(",")})`;
}

// Round numbers from 0 to just beyond `last`, at most `most` of them.
export function ticks(last, most) {
  if (!(last > 0)) return [0];
  const rough = last / Math.max(1, most - 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * (1 - 1e-9));
  return Array.from({ length: Math.floor(last / step + 1e-9) + 1 }, (_, i) => Number((i * step).toPrecision(12)));
}

// The outline of a step function as an SVG path.
export function stepPath(times, values, start, end, x, y) {
  let path = `M${x(0).toFixed(2)},${y(start).toFixed(2)}`;
  for (let i = 0; i < times.length; i++) {
    if (values[i] === null || values[i] === (i ? values[i - 1] : start)) continue;
    path += `H${x(times[i]).toFixed(2)}V${y(values[i]).toFixed(2)}`;
  }
  return `${path}H${x(end).toFixed(2)}`;
}

export function bandPath(curve, x, y) {
  const { table: { time }, lower, upper } = curve;
  const known = lower.findIndex((limit) => limit === null);
  const n = known < 0 ? time.length : known;
  const end = n < time.length ? time[n] : time[time.length - 1];
  let path = `M${x(0).toFixed(2)},${y(1).toFixed(2)}`;
  for (let i = 0; i < n; i++) path += `H${x(time[i]).toFixed(2)}V${y(upper[i]).toFixed(2)}`;
  path += `H${x(end).toFixed(2)}`;
  for (let i = n - 1; i >= 0; i--) path += `V${y(lower[i]).toFixed(2)}H${x(time[i]).toFixed(2)}`;
  return `${path}V${y(1).toFixed(2)}Z`;
}
