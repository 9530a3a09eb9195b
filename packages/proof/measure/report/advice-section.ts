// The section of docs/proof/benchmarks.md about how to make a function fast, with the figures of the sections after it. Pure.
import { median } from "../timing/median.ts";
import type { Kind, Sample } from "../timing/turn.ts";
import { pairwise, presentStarts } from "./cold-start-section.ts";
import { kilobytes, milliseconds, ratio } from "./format.ts";
import { markdownTable } from "./markdown.ts";
import { ofCall, PEER, toPeer } from "./race-table.ts";
import type { Results } from "./results.ts";

/**
 * The memory with which a function has one processor:
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
 */
const MB_OF_ONE_PROCESSOR = 1769;
const MEMORY_MB = [128, 512, 1024, MB_OF_ONE_PROCESSOR];

const cpu = ({ cpuMs }: Sample) => cpuMs;
const LEAN = "onceonly on the lean client";
const LONELY = "onceonly on a client without keep-alive";

/** Empty if the figures are missing. */
export function adviceSection({ client, bundle, "cold-start": coldStart }: Results): string {
  const starts = presentStarts(coldStart?.figures ?? {});
  const [first] = starts;
  if (!client || !bundle || !first) return "";
  const { plain, tls } = client.figures;
  const calls = (name: string, kind: Kind, figures = plain) => ratio(toPeer(figures, name, kind, 16, cpu), 2);
  const unbundled = starts.map(
    ({ version, withSdk, withoutSdk }) =>
      `${times(pairwise(withoutSdk.onceonly, withSdk.onceonly))} on Node ${version}`,
  );
  const versions = starts.map(
    ({ version, withSdk }) => `${milliseconds(median(withSdk.onceonly ?? []), 0)} on Node ${version}`,
  );
  const lonely =
    ofCall(tls, LONELY, "firstRun", 16, cpu) /
    ofCall(tls, "onceonly on the peer's client", "firstRun", 16, cpu);
  const { functions } = bundle.figures;
  const memory = ["onceonly", "onceonly/lean", PEER].map((name) => [
    name,
    ...MEMORY_MB.map((mb) => milliseconds((median(first.withSdk[name] ?? []) * MB_OF_ONE_PROCESSOR) / mb, 0)),
  ]);
  return `## What makes a function fast

- **Bundle the SDK.** With the runtime's SDK instead, a cold start is slower: ${unbundled.join(", ")}. \`NodejsFunction\` of
  the CDK leaves it out by default; to include it, set \`bundling: { externalModules: [] }\`.
- **Use \`onceonly/lean\` if the function needs no other AWS client**. Its processor time is ${calls(LEAN, "firstRun")} of ${PEER}'s for a first
  run, ${calls(LEAN, "replay")} for a replay and ${ratio(pairwise(first.withSdk["onceonly/lean"], first.withSdk[PEER]), 2)} for a cold start. The whole function has ${kilobytes(Number(functions["onceonly/lean"]))} instead of ${kilobytes(Number(functions.onceonly))}.
- **Create the store once**, outside the handler, and keep its connections open, as the SDK and the lean client do
  by default. Without keep-alive, a first run over TLS costs ${times(lonely)} the processor time, plus a handshake's round trips.
- **Give it memory.** A function gets processor time in proportion to its memory, [one whole processor with ${MB_OF_ONE_PROCESSOR.toLocaleString("en")} MB](https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html). The table
  computes the cold start on Node ${first.version} from that. It isn't measured, and AWS's processors differ from this machine's:

${markdownTable([["", ...MEMORY_MB.map((mb) => `${mb.toLocaleString("en")} MB`)], ...memory])}

- **Measure your version of Node.** With the SDK bundled, a cold start costs ${versions.join(", ")}.
`;
}

function times(value: number): string {
  return `${value.toFixed(1)} times`;
}
