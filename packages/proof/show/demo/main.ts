// `npm run demo`: plays the plan of the options without onceonly and with it, prints both columns and the result. Exit
// status 0 if the promise held, 1 if an effect or an answer is off; 2 if the demo could not run. Ctrl-C gives 130.
import { runCommand } from "../../command-line.ts";
import { readOptions, USAGE } from "./options.ts";

await runCommand({
  usage: USAGE,
  readOptions,
  async run(options, signal) {
    const { orders, duplicates, seed, without, app } = options;
    const ways = without
      ? "without onceonly"
      : app === undefined
        ? "with onceonly and without"
        : "with onceonly";
    console.log(`${orders} orders, ${duplicates} duplicates, seed ${seed}: ${ways}`);
    // The rest needs seconds to load, and the screen must not stay empty until then.
    const { playAndJudge } = await import("./play-and-judge.ts");
    return playAndJudge(options, signal);
  },
});
