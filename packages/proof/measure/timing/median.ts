// The value reported for several rounds. Pure.

/** The median; with an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2)];
  return ((sorted[low] ?? Number.NaN) + (sorted[high] ?? Number.NaN)) / 2;
}
