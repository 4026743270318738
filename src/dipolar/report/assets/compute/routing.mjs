// On which side of a split a row lies. The tree is in the plain form that Python's `to_dict` gives, and `kernels` has the
// functions that the kernels' classes in Python state, by name; surfaces that are sums over rows need theirs. A row is an
// array of numbers, NaN where missing, in the order of the covariates. It goes left where its score is below 0.
const sum = (values, of) => values.reduce((total, value, i) => total + of(value, i), 0);

const JUST_BELOW = -(2 ** -1022); // the score of a value at its threshold

export function makeScore(tree, kernels) {
  function axisScore(row, { feature, threshold, missing_left: missingLeft }) {
    if (Number.isNaN(row[feature])) return missingLeft ? -Infinity : Infinity;
    return threshold === null ? -Infinity : row[feature] - threshold || JUST_BELOW;
  }

  // Rows on the surface, whose sums are no larger than the boundary, all go to the side that it says.
  function surfaceScore(row, split) {
    const value = surfaceSum(row, split), { boundary } = split;
    if (!Number.isFinite(value)) throw new RangeError("these values are too far from the training rows for their score to be a number");
    return Math.abs(value) <= Math.abs(boundary) ? Math.min(0, -boundary) : value;
  }

  // The intercept plus coefficients times monomials of the scaled covariates, or times kernel values with rows of the
  // training data; the kernel sees the columns of the split.
  function surfaceSum(row, { kernel, columns, coefficients, monomials, basis_rows: basisRows, intercept }) {
    const z = row.map((x, i) => (x - tree.mean[i]) / tree.scale[i]);
    const seen = (values) => columns.map((column) => values[column]);
    const u = seen(z);
    const value = monomials
      ? (k) => monomials[k].reduce((product, column) => product * z[column], 1)
      : (k) => kernels[kernel.name](u, seen(tree.basis[basisRows[k]]), kernel.parameters);
    return intercept + sum(coefficients, (coefficient, k) => coefficient * value(k));
  }

  const ofSplit = tree.split_kind === "axis" ? axisScore : surfaceScore;
  return (row, node) => ofSplit(row, tree.nodes[node].split);
}
