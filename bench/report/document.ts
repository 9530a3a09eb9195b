// docs/benchmarks.md as a whole. Pure: the same figures give the same text, and no date is in it.
import type { BatchFigures } from "../batch/compare-batches.ts";
import type { Bundle } from "../size/bundle.ts";
import type { Speed } from "../timing/speed.ts";
import { batchSection } from "./batch-section.ts";
import { type CountedPath, capacityTable } from "./capacity-table.ts";
import { exactBytes, milliseconds, ratio } from "./format.ts";
import { markdownTable } from "./markdown.ts";

interface Sided<T> {
  readonly onceonly: T;
  readonly powertools: T;
}

export interface Figures {
  readonly versions: Readonly<Record<string, string>>;
  readonly paths: readonly CountedPath[];
  readonly batch: BatchFigures;
  readonly bundles: Sided<Bundle>;
  readonly importMs: Sided<number>;
  /** By the contestant's name; the first is the bare handler, the last the peer. */
  readonly speeds: Readonly<Record<string, Speed>>;
}

export function benchmarksDocument(figures: Figures): string {
  const { versions, paths, batch, bundles, importMs, speeds } = figures;
  return `# Benchmarks

Written by \`npm run bench\`; do not edit. Both packages ran in one process on one engine: ${versionList(versions)}.

## Requests and capacity

Exact counts: they are the same in every run. A dash is a path that Powertools does not have.

${capacityTable(paths)}

- Requests are tries: what the SDK repeats by itself counts again.
- Write and read units are what the engine reports, but for three things that local engines do not report, or not as
  DynamoDB does. They are computed as DynamoDB documents them:
  a refused conditional write costs the size of the item that refused it
  ([capacity of writes](https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html));
  an item in a transaction costs double; and a transaction that is repeated with its token is answered, and charged, as
  reads of its items
  ([TransactWriteItems](https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html)).
- Records and orders are below 1 KB but for the 40 KB result, which is random text.
- Powertools keeps a large result in the record itself, so that each refused claim pays for its size; onceonly puts it
  into an item of its own, which costs one more write on the first run, and a read on each replay.
- A commit costs more than an order that the handler puts on its own: that is the price of the transaction, which
  leaves no moment in which the order is there and its record is not.

${batchSection(batch)}
## Bundle

Exact bytes of the Middy middleware with the DynamoDB store, minified by esbuild as an ES module; the AWS SDK and Middy
are left outside.

${markdownTable([
  ["", "onceonly", "Powertools"],
  ["own code", ...sided(bundles, ({ ownBytes }) => exactBytes(ownBytes))],
  ["other packages", ...sided(bundles, thirdParties)],
  ["all of it, gzipped", ...sided(bundles, ({ gzipBytes }) => exactBytes(gzipBytes))],
])}

## Timings

Measured, so that they differ a little from run to run and more from machine to machine: read the ratios, not the times.

### Import

Of the bundle above, on top of the import of the AWS SDK: the least of several fresh processes.

${markdownTable([
  ["", "onceonly", "Powertools"],
  ["import", ...sided(importMs, milliseconds)],
])}

### Latency and throughput

Relative to the bare handler, which puts one order into DynamoDB and does nothing else, and runs again when it is called
again. Every other contestant's handler writes that order too: on its own, or in the commit. The contestants take turns
in one run; the figures are medians. A local engine answers without a network in between: against a real table the
ratios of latency come closer to the ratios of the requests above.

${speedTable(speeds)}
`;
}

function versionList(versions: Readonly<Record<string, string>>): string {
  return Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`.trim())
    .join(", ");
}

function sided<T>({ onceonly, powertools }: Sided<T>, show: (value: T) => string): string[] {
  return [show(onceonly), show(powertools)];
}

function thirdParties({ thirdPartyBytes, thirdParties }: Bundle): string {
  return thirdPartyBytes === 0 ? "–" : `${exactBytes(thirdPartyBytes)} (${thirdParties.join(", ")})`;
}

function speedTable(speeds: Readonly<Record<string, Speed>>): string {
  const peer = Object.values(speeds).at(-1) as Speed;
  const rows = Object.entries(speeds).map(([name, speed]) => [
    name,
    ratio(speed.firstRunLatency),
    ratio(speed.firstRunLatency / peer.firstRunLatency),
    ratio(speed.replayLatency),
    ratio(speed.replayLatency / peer.replayLatency),
    ratio(speed.throughput),
    ratio(speed.throughput / peer.throughput),
  ]);
  return markdownTable([
    [
      "",
      "latency of a first run, to bare",
      "to Powertools",
      "latency of a replay, to bare",
      "to Powertools",
      "throughput of first runs, to bare",
      "to Powertools",
    ],
    ...rows,
  ]);
}
