// The process of one contestant.
import { connect } from "../../test/dynamodb/tables.ts";
import type { Invoke } from "../contestants/lambda-call.ts";
import { speedContestants } from "./contestants.ts";
import type { IsolatedSetup } from "./isolated-runner.ts";
import { runnerOf } from "./runner.ts";
import type { Runner } from "./speed.ts";

const { contestant, endpoint, tables } = JSON.parse(String(process.argv[2])) as IsolatedSetup;
const invoke = speedContestants({ client: connect(endpoint), ...tables })[contestant] as Invoke;
const runner = runnerOf(invoke);

process.on("message", async (what: keyof Runner) => {
  process.send?.((await runner[what]()) ?? "done");
});
process.on("disconnect", () => process.exit());
