// The paths of the cost budget, on both sides. A side that does not have a path has no entry.
import { createHash } from "node:crypto";
import type { Invoke, LambdaHandler } from "../contestants/lambda-call.ts";
import { committingOrder, onceonlyHttp } from "../contestants/onceonly.ts";
import { powertoolsHttp } from "../contestants/powertools.ts";
import { answering, puttingOrder, type World } from "../contestants/world.ts";
import type { Tally } from "../metering/meter.ts";
import type { MeteredClient } from "../metering/metered-client.ts";
import {
  concurrentDuplicate,
  firstRun,
  type Journey,
  lostAnswer,
  lostClaimAnswerConflicts,
  replay,
} from "./journeys.ts";
import { Subject } from "./subject.ts";

export interface Path {
  readonly name: string;
  readonly onceonly: () => Promise<Tally>;
  readonly powertools?: () => Promise<Tally>;
  /** Shown beside the peer's numbers. */
  readonly powertoolsRemark?: string;
}

/** Like random text, of which compression saves only a quarter, but the same in every run. */
const LARGE_BODY = JSON.stringify({
  text: createHash("shake256", { outputLength: 30 * 1024 })
    .update("benchmark")
    .digest("base64url"),
});

export function capacityPaths(metered: MeteredClient, world: World): readonly Path[] {
  const records = { client: world.client, tableName: world.onceonlyTable };
  const claimed = onceonlyHttp(records);
  const optimistic = onceonlyHttp(records, { mode: "optimistic" });
  const optimisticUnlooked = onceonlyHttp(records, { mode: "optimistic", lookFirst: false });
  const powertools = powertoolsHttp(world);
  const along =
    (journey: Journey, deploy: (handler: LambdaHandler) => Invoke, handler: LambdaHandler) =>
    (): Promise<Tally> =>
      journey(new Subject(metered, deploy, handler));
  const both = (journey: Journey, handler: LambdaHandler) => ({
    onceonly: along(journey, claimed, handler),
    powertools: along(journey, powertools, handler),
  });
  const committing = committingOrder(world);

  return [
    { name: "first run, claimed", ...both(firstRun, answering()) },
    { name: "first run committing 1 order, claimed", onceonly: along(firstRun, claimed, committing) },
    {
      name: "first run committing 1 order, optimistic",
      onceonly: along(firstRun, optimistic, committing),
    },
    {
      name: "first run committing 1 order, optimistic, `lookFirst: false`",
      onceonly: along(firstRun, optimisticUnlooked, committing),
    },
    {
      name: "first run, the handler puts 1 order on its own (not atomic)",
      ...both(firstRun, puttingOrder(world)),
    },
    { name: "replay, small result", ...both(replay, answering()) },
    { name: "first run, 40 KB result", ...both(firstRun, answering(LARGE_BODY)) },
    { name: "replay, 40 KB result", ...both(replay, answering(LARGE_BODY)) },
    { name: "concurrent duplicate, rejected", ...both(concurrentDuplicate, answering()) },
    {
      name: "first run, answer of the claim lost",
      onceonly: along(lostAnswer(1), claimed, answering()),
      powertools: along(lostClaimAnswerConflicts, powertools, answering()),
      powertoolsRemark: "refused, the handler does not run",
    },
    { name: "first run, answer of the completion lost", ...both(lostAnswer(2), answering()) },
    {
      name: "first run committing 1 order, claimed, answer of the commit lost",
      onceonly: along(lostAnswer(2), claimed, committing),
    },
    {
      name: "first run committing 1 order, optimistic, `lookFirst: false`, answer of the commit lost",
      onceonly: along(lostAnswer(1), optimisticUnlooked, committing),
    },
  ];
}
