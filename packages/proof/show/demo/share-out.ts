// Divides a number of things among kinds. Pure.

export interface Share {
  /** A part of 1; the shares of all kinds are 1 together. */
  readonly share: number;
  /** A fixed number, for kinds that are played one after the other. @default - proportional to its share */
  readonly most?: number;
  /** However few there are, as long as each other kind has one left. @default 1 */
  readonly least?: number;
}

/** One of each, in the order of the kinds; then the one furthest below its share; then the minimum of `least`. */
export function shareOut<Kind extends string>(count: number, shares: Readonly<Record<Kind, Share>>): Kind[] {
  const kinds = Object.keys(shares) as Kind[];
  const chosen = kinds.slice(0, count);
  const counts = new Map(kinds.map((kind) => [kind, 1]));
  const lackOf = (kind: Kind) => {
    const { share, most = Number.POSITIVE_INFINITY } = shares[kind];
    const has = counts.get(kind)!;
    return has < most ? share * count - has : Number.NEGATIVE_INFINITY;
  };
  while (chosen.length < count) {
    const next = kinds.reduce((furthest, kind) => (lackOf(kind) > lackOf(furthest) ? kind : furthest));
    counts.set(next, counts.get(next)! + 1);
    chosen.push(next);
  }
  for (const kind of kinds) {
    const { least = 1 } = shares[kind];
    while (chosen.length >= kinds.length && counts.get(kind)! < least) {
      // From the kind that has the most to give.
      const spare = (each: Kind) => counts.get(each)! - (shares[each].least ?? 1);
      const giver = kinds.reduce((richest, each) => (spare(each) > spare(richest) ? each : richest));
      if (spare(giver) <= 0) return chosen;
      chosen[chosen.lastIndexOf(giver)] = kind;
      counts.set(giver, counts.get(giver)! - 1);
      counts.set(kind, counts.get(kind)! + 1);
    }
  }
  return chosen;
}
