// The paths of the cost budget, on both sides. A side that does not have a path has no entry.
import { createHash } from "node:crypto";
import type { Invoke, LambdaHandler } from "../contestants/lambda-call.ts";
import { committingOrder, onceonlyHttp } from "../contestants/onceonly.ts";
import { powertoolsHttp } from "../contestants/powertools.ts";
import { answering, failing, puttingOrder, type World } from "../contestants/world.ts";
import type { Tally } from "../metering/meter.ts";
import type { MeteredClient } from "../metering/metered-client.ts";
import {
  concurrentDuplicate,
  failedRun,
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
  /** Shown next to the peer's numbers. */
  readonly powertoolsRemark?: string;
}

/** Like random text, of which compression saves only a quarter, but the same in every run. */
function bodyOf(kilobytes: number): string {
  const text = createHash("shake256", { outputLength: (kilobytes * 1024 * 3) / 4 }).update("benchmark");
  return JSON.stringify({ text: text.digest("base64url") });
}

const RESULTS = [1, 40, 300].map((kilobytes) => ({ size: `${kilobytes} KB`, body: bodyOf(kilobytes) }));

export function capacityPaths(metered: MeteredClient, world: World): readonly Path[] {
  const records = { client: world.client, tableName: world.onceonlyTable };
  const claimed = onceonlyHttp(records);
  const optimistic = onceonlyHttp(records, { mode: "optimistic" });
  const unlooked = onceonlyHttp(records, { mode: "optimistic", lookFirst: false });
  const powertools = powertoolsHttp(world);
  const along =
    (journey: Journey, deploy: (handler: LambdaHandler) => Invoke, handler: LambdaHandler) =>
    (): Promise<Tally> =>
      journey(new Subject(metered, deploy, handler));
  const both = (name: string, journey: Journey, handler: LambdaHandler): Path => ({
    name,
    onceonly: along(journey, claimed, handler),
    powertools: along(journey, powertools, handler),
  });
  const own = (
    name: string,
    journey: Journey,
    deploy: (handler: LambdaHandler) => Invoke,
    handler: LambdaHandler,
  ): Path => ({ name, onceonly: along(journey, deploy, handler) });
  const order = committingOrder(world);
  const orderAndMessage = committingOrder(world, true);

  return [
    both("first run, claimed", firstRun, answering()),
    own("first run committing 1 order, claimed", firstRun, claimed, order),
    own("first run committing 1 order and 1 message, claimed", firstRun, claimed, orderAndMessage),
    own("first run committing 1 order and 1 message, optimistic", firstRun, optimistic, orderAndMessage),
    own(
      "first run committing 1 order and 1 message, optimistic, `lookFirst: false`",
      firstRun,
      unlooked,
      orderAndMessage,
    ),
    both("first run, the handler puts 1 order on its own (not atomic)", firstRun, puttingOrder(world)),
    both("first run that fails and is released", failedRun, failing),
    both("replay, small result", replay, answering()),
    own("replay, small result, optimistic", replay, optimistic, order),
    both("concurrent duplicate, rejected", concurrentDuplicate, answering()),
    ...RESULTS.flatMap(({ size, body }) => [
      both(`first run, ${size} result`, firstRun, answering(body)),
      both(`replay, ${size} result`, replay, answering(body)),
    ]),
    {
      name: "first run, answer of the claim lost",
      onceonly: along(lostAnswer(1), claimed, answering()),
      powertools: along(lostClaimAnswerConflicts, powertools, answering()),
      powertoolsRemark: "refused, the handler does not run",
    },
    both("first run, answer of the completion lost", lostAnswer(2), answering()),
    both("first run that fails, answer of the release lost", lostAnswer(2, failedRun), failing),
    own(
      "first run committing 1 order and 1 message, claimed, answer of the commit lost",
      lostAnswer(2),
      claimed,
      orderAndMessage,
    ),
    own(
      "first run committing 1 order and 1 message, optimistic, answer of the look lost",
      lostAnswer(1),
      optimistic,
      orderAndMessage,
    ),
    own(
      "first run committing 1 order and 1 message, optimistic, answer of the commit lost",
      lostAnswer(2),
      optimistic,
      orderAndMessage,
    ),
    own(
      "first run committing 1 order and 1 message, optimistic, `lookFirst: false`, answer of the commit lost",
      lostAnswer(1),
      unlooked,
      orderAndMessage,
    ),
  ];
}
