/** The steps between numbered states, and from which of them a goal can be reached. */

export class Edges {
  /** Pairs: from, to. */
  #ends = new Uint32Array(1 << 16);
  #used = 0;

  get count(): number {
    return this.#used / 2;
  }

  add(from: number, to: number): void {
    if (this.#used === this.#ends.length) {
      const larger = new Uint32Array(this.#ends.length * 2);
      larger.set(this.#ends);
      this.#ends = larger;
    }
    this.#ends[this.#used++] = from;
    this.#ends[this.#used++] = to;
  }

  /** The smallest of `states` numbers from which none of `goals` can be reached. */
  firstStuck(states: number, goals: readonly number[]): number | undefined {
    const [starts, sources] = this.#backwards(states);
    const reaches = new Uint8Array(states);
    for (const goal of goals) reaches[goal] = 1;
    const queue = [...goals];
    for (let to = queue.pop(); to !== undefined; to = queue.pop()) {
      for (const from of sources.subarray(starts[to], starts[to + 1])) {
        if (reaches[from] === 1) continue;
        reaches[from] = 1;
        queue.push(from);
      }
    }
    const stuck = reaches.indexOf(0);
    return stuck === -1 ? undefined : stuck;
  }

  /** The sources of the steps to each state: those to state n are `sources` from `starts[n]` to before `starts[n + 1]`. */
  #backwards(states: number): [starts: Uint32Array, sources: Uint32Array] {
    const starts = new Uint32Array(states + 1);
    const ends = this.#ends.subarray(0, this.#used);
    const countUp = (at: number) => {
      starts[at] = (starts[at] as number) + 1;
    };
    for (let at = 1; at < ends.length; at += 2) countUp(ends[at] as number);
    let sum = 0;
    for (let id = 0; id <= states; id++) {
      sum += starts[id] as number;
      starts[id] = sum;
    }
    // Filled from the end, so each start moves from the end of its part to the beginning.
    const sources = new Uint32Array(ends.length / 2);
    for (let at = 1; at < ends.length; at += 2) {
      const to = ends[at] as number;
      const place = (starts[to] as number) - 1;
      starts[to] = place;
      sources[place] = ends[at - 1] as number;
    }
    return [starts, sources];
  }
}
