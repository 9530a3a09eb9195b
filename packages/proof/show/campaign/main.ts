// `npm run campaign`: plays the modes of the options in parallel, prints its findings and a table. Exit status 0 if
// only the controls found anything, 1 if not, 2 if the campaign could not run, 130 after Ctrl-C.
import { writeFile } from "node:fs/promises";
import { startDynamoDB } from "../../../local/lib/dynamodb-engine.ts";
import { runCommand } from "../../command-line.ts";
import { bundleProcess } from "../../process-bundle.ts";
import { loopbackOrigin } from "../load/loopback.ts";
import { type CampaignOptions, readOptions, USAGE } from "./options.ts";
import { runMode } from "./run-mode.ts";
import { formatSummary, isGood } from "./summary.ts";
import { VARIANTS } from "./variants.ts";

/** Clocks are off by half of it, so any two differ by all of it at most; or by more than it. */
const CLOCK_SKEW_SECONDS = 0.5;
const SKEW_MS = { within: 250, beyond: 2000 };

async function play(options: CampaignOptions, signal: AbortSignal): Promise<number> {
  const { seed, minutes, control, skew, hosts, rate } = options;
  const chosen = choose(options);
  const untilMs = Date.now() + minutes * 60_000;
  const given = process.env.AWS_ENDPOINT_URL_DYNAMODB;
  const endpoint = given ? loopbackOrigin("AWS_ENDPOINT_URL_DYNAMODB", given) : undefined;
  const [bundle, engine] = await Promise.all([
    bundleProcess("packages/proof/show/campaign/hands/main.ts"),
    startDynamoDB({ endpoint, engine: options.engine }),
  ]);
  console.log(
    `seed ${seed}: ${chosen.map(([mode]) => mode).join(", ")}, ${minutes} min, ${hosts} hosts each, on ${engine.engine}`,
  );
  try {
    const reports = await Promise.all(
      chosen.map(([mode, variants]) =>
        runMode({
          mode,
          variants,
          seed,
          bundle,
          endpoint: engine.endpoint,
          hosts,
          keysPerSecond: rate,
          clockSkewSeconds: CLOCK_SKEW_SECONDS,
          skewMs: SKEW_MS[skew],
          client: options.client,
          control,
          untilMs,
          signal,
          print: (line) => console.log(line),
        }),
      ),
    );
    console.log(`\n${formatSummary(reports)}`);
    if (options.summary) {
      await writeFile(
        options.summary,
        `${JSON.stringify({ seed, minutes, hosts, rate, skew, engine: engine.engine, reports }, undefined, 2)}\n`,
      );
    }
    const isHeld = reports.every(isGood);
    console.log(`\n${isHeld ? "held: no violation" : "BROKEN"}, seed ${seed}`);
    return isHeld ? 0 : 1;
  } finally {
    await engine.stop();
  }
}

/** The operations of each mode. @throws Error if there are none */
function choose({ modes, only }: CampaignOptions) {
  const chosen = modes.flatMap((mode) => {
    const [first, ...others] = VARIANTS[mode].filter(({ name }) => name.includes(only));
    return first ? [[mode, [first, ...others]] as const] : [];
  });
  if (chosen.length === 0) throw new Error(`--only must be in the name of an operation; got "${only}"`);
  return chosen;
}

await runCommand({ usage: USAGE, readOptions, run: play });
