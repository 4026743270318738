// Life tables and what is read off them. The counterparts in Python are in curves.py and metrics/logrank.py; a table
// is { time, events, censored, atRisk }, arrays over the distinct times.
const FLAT_STEP_TOLERANCE = Math.sqrt(Number.EPSILON);
const NORMAL_975 = 1.959963984540054;

// Pool tables: at every time the events and censorings of all of them.
export function pool(tables) {
  if (tables.length === 1) return tables[0];
  const entries = [];
  for (const { time, events, censored } of tables) {
    for (let i = 0; i < time.length; i++) entries.push([time[i], events[i], censored[i]]);
  }
  entries.sort((a, b) => a[0] - b[0]);
  const pooled = { time: [], events: [], censored: [], atRisk: [] };
  for (const [time, events, censored] of entries) {
    const last = pooled.time.length - 1;
    if (last >= 0 && pooled.time[last] === time) {
      pooled.events[last] += events;
      pooled.censored[last] += censored;
    } else {
      pooled.time.push(time);
      pooled.events.push(events);
      pooled.censored.push(censored);
    }
  }
  let atRisk = 0;
  pooled.atRisk = new Array(pooled.time.length);
  for (let i = pooled.time.length - 1; i >= 0; i--) pooled.atRisk[i] = atRisk += pooled.events[i] + pooled.censored[i];
  return pooled;
}

// Kaplan-Meier and Nelson-Aalen estimates, with pointwise 95 % limits by Greenwood's variance on the scale of
// log(-log S). Limits are null where the curve has reached zero and the variance is unknown.
export function estimate(table) {
  const n = table.time.length;
  const survival = new Array(n), hazard = new Array(n), lower = new Array(n), upper = new Array(n);
  let s = 1, h = 0, variance = 0;
  for (let i = 0; i < n; i++) {
    const d = table.events[i], y = table.atRisk[i];
    s *= 1 - d / y;
    h += d / y;
    variance += d / (y * (y - d));
    survival[i] = s;
    hazard[i] = h;
    if (s <= 0) {
      lower[i] = upper[i] = null;
    } else if (s === 1) {
      lower[i] = upper[i] = 1;
    } else {
      const spread = Math.exp(NORMAL_975 * Math.sqrt(variance) / Math.log(s));
      lower[i] = Math.pow(s, 1 / spread);
      upper[i] = Math.pow(s, spread);
    }
  }
  return { survival, hazard, lower, upper };
}

// The number of entries of an ascending array that are <= t (or < t).
export function countUpTo(sorted, t, strictly = false) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (strictly ? sorted[middle] < t : sorted[middle] <= t) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function valueAt(table, values, t, start) {
  const k = countUpTo(table.time, t);
  return k === 0 ? start : values[k - 1];
}

export function atRiskAt(table, t) {
  const k = countUpTo(table.time, t, true);
  return k < table.time.length ? table.atRisk[k] : 0;
}

// First time with S <= 1 - q, or the middle of the step on which S = 1 - q; null where it is not reached.
export function quantile(table, survival, q) {
  const level = 1 - q;
  const first = survival.findIndex((s) => s <= level + FLAT_STEP_TOLERANCE);
  if (first < 0) return null;
  if (survival[first] < level - FLAT_STEP_TOLERANCE) return table.time[first];
  const lower = survival.findIndex((s) => s < level - FLAT_STEP_TOLERANCE);
  const end = lower < 0 ? table.time.length - 1 : lower;
  return 0.5 * table.time[first] + 0.5 * table.time[end];
}

// The median with limits: where the limits of the curve pass 1/2; null for a limit that is not reached. It rests on one
// row if the curve falls to 1/2 only where one is left.
export function median(table, estimates) {
  const below = (limits) => {
    const k = limits.findIndex((limit) => limit !== null && limit <= 0.5 + FLAT_STEP_TOLERANCE);
    return k < 0 ? null : table.time[k];
  };
  const first = estimates.survival.findIndex((s) => s <= 0.5 + FLAT_STEP_TOLERANCE);
  return {
    value: quantile(table, estimates.survival, 0.5),
    restsOnOne: first >= 0 && table.atRisk[first] <= 1,
    lower: below(estimates.lower),
    upper: below(estimates.upper),
  };
}

export function restrictedMean(table, survival, horizon) {
  let area = 0, height = 1, from = 0;
  for (let i = 0; i < table.time.length && table.time[i] < horizon; i++) {
    area += (table.time[i] - from) * height;
    from = table.time[i];
    height = survival[i];
  }
  return area + (horizon - from) * height;
}

// The cumulative hazard summed over the event times of the training data: the risk that `predict` returns.
export function risk(table, eventTimes) {
  let sum = 0;
  for (let i = 0; i < table.time.length; i++) {
    if (table.events[i] === 0) continue;
    sum += table.events[i] / table.atRisk[i] * (eventTimes.length - countUpTo(eventTimes, table.time[i], true));
  }
  return sum;
}

// Two-sample log-rank test of the rows behind two tables.
export function logrank(a, b) {
  const both = pool([a, b]);
  const own = new Map(a.time.map((time, i) => [time, a.events[i]]));
  let observed = 0, expected = 0, variance = 0;
  for (let k = 0; k < both.time.length; k++) {
    const d = both.events[k], y = both.atRisk[k];
    if (d === 0) continue;
    const share = atRiskAt(a, both.time[k]) / y;
    observed += own.get(both.time[k]) || 0;
    expected += share * d;
    if (y > 1) variance += d * (y - d) / (y - 1) * share * (1 - share);
  }
  const statistic = variance > 0 ? (observed - expected) ** 2 / variance : 0;
  return { statistic, p: variance > 0 ? erfc(Math.sqrt(statistic / 2)) : 1, observed, expected };
}

// 1 - erf(x) for x >= 0: the series of erf where it converges fast, else the continued fraction.
export function erfc(x) {
  if (x < 2) {
    let term = x, sum = x;
    for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
      term *= -x * x / n;
      sum += term / (2 * n + 1);
    }
    return 1 - 2 / Math.sqrt(Math.PI) * sum;
  }
  let fraction = 0;
  for (let n = 120; n > 0; n--) fraction = n / 2 / (x + fraction);
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + fraction);
}
