// On which side of a split a row lies. The tree is in the plain form that Python's `to_dict` gives, and `kernel` the
// function that the kernel's class in Python states; it is needed where surfaces are sums over rows. A row is an array
// of numbers, NaN where missing, in the order of the covariates.
const sum = (values, of) => values.reduce((total, value, i) => total + of(value, i), 0);

export function makeRouter(tree, kernel) {
  const isAxis = tree.split_kind === "axis";

  function score(row, node) {
    const { split } = tree.nodes[node];
    return isAxis ? row[split.feature] - (split.threshold === null ? Infinity : split.threshold) : surfaceScore(row, split);
  }

  // The intercept plus coefficients times kernel values with rows of the training data, or times monomials.
  function surfaceScore(row, { intercept, coefficients, basis_rows: basisRows }) {
    const z = row.map((x, i) => (x - tree.mean[i]) / tree.scale[i]);
    const value = basisRows.length
      ? (k) => kernel(z, tree.basis[basisRows[k]], tree.kernel.parameters)
      : (k) => tree.monomials[k].columns.reduce((product, column) => product * z[column], tree.monomials[k].factor);
    return intercept + sum(coefficients, (coefficient, k) => coefficient * value(k));
  }

  function goesLeft(row, node, value) {
    const { split } = tree.nodes[node];
    if (isAxis) {
      const x = row[split.feature];
      return Number.isNaN(x) ? split.missing_left : split.threshold === null || x <= split.threshold;
    }
    if (!Number.isFinite(value)) throw new RangeError("these values are too far from the training rows for their score to be a number");
    return value < split.boundary;
  }

  return { score, goesLeft };
}
