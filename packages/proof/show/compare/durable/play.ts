// One run of a durable function in the simulator: with a second delivery, or killed at some of its requests.

import type { SourceAnswer, SourceStage } from "../../../../explorer/lib/explorer/source.ts";
import { durableService } from "../../../../explorer/lib/explorer/sources/durable.ts";
import type { Io } from "../../../../explorer/lib/simulator/io.ts";
import { Simulator } from "../../../../explorer/lib/simulator/simulator.ts";
import { type Contestant, LEDGER, POWERTOOLS_RECORDS, RECORDS } from "./contestants.ts";
import { PROVIDER, Provider } from "./provider.ts";
import type { Order, Shape } from "./shapes.ts";

export interface Plan {
  /** The places of requests, from 1: twice the number is the kill before it, and one more the one after it. */
  readonly kills?: readonly number[];
  /** When the same order is delivered once more. */
  readonly again?: "meanwhile" | "afterwards";
}

/** How many effects happened more than once and are missing, and how many deliveries never succeeded. */
export interface Seen {
  readonly doubled: number;
  readonly lost: number;
  readonly failed: number;
  readonly ios: readonly Io[];
}

const ORDER: Order = { id: "o1" };
const TIMEOUT_SECONDS = 10;
/** How long a sender delivers again after a failed execution. */
const PATIENCE_MS = 600_000;
const MEANWHILE_MS = 120_000;
/** Both contestants with records still have them: Powertools keeps them for an hour by default, onceonly for a day. */
const AFTERWARDS_MS = 1_800_000;

export async function play(
  contestant: Contestant,
  shape: Shape,
  { kills = [], again }: Plan = {},
): Promise<Seen> {
  const aws = new Simulator({ seed: 1 });
  const provider = new Provider();
  aws.table(LEDGER, { partitionKey: "id" });
  aws.table(POWERTOOLS_RECORDS, { partitionKey: "id" });
  aws.table(RECORDS, { partitionKey: "pk", indexes: {} });
  aws.serve(PROVIDER, provider.serve);
  const ios: Io[] = [];
  aws.faults = (io) => {
    ios.push(io);
    const when = kills.includes(ios.length * 2)
      ? "before"
      : kills.includes(ios.length * 2 + 1)
        ? "after"
        : undefined;
    return when && { kind: "crash", when };
  };
  return aws.run(async () => {
    const fn = aws.lambdaPerEnvironment(() => contestant.deploy(shape) as never, {
      name: "durable",
      timeoutSeconds: TIMEOUT_SECONDS,
    });
    const deliver = async () => {
      let last: SourceAnswer | undefined;
      const note = (answer: SourceAnswer) => {
        last = answer;
      };
      const stage = { aws, fn, event: ORDER, clock: aws.clock, patienceMs: PATIENCE_MS, note };
      await durableService.deliver(stage as never as SourceStage);
      return last?.isSuccess === true;
    };
    const first = deliver();
    const deliveries = [first];
    if (again === "meanwhile") {
      await aws.clock.sleep(MEANWHILE_MS);
      deliveries.push(deliver());
    }
    if (again === "afterwards") {
      await first;
      await aws.clock.sleep(AFTERWARDS_MS);
      deliveries.push(deliver());
    }
    const succeeded = await Promise.all(deliveries);
    const { effects, undone = [] } = shape;
    const times = await Promise.all(effects.map((id) => timesOf(aws, provider, id)));
    const trips = undone.map((id) => provider.about(id));
    return {
      doubled: times.filter((each) => each > 1).length + trips.filter(({ charged }) => charged > 1).length,
      lost:
        times.filter((each) => each === 0).length +
        trips.filter(({ charged, refunded }) => charged !== refunded).length,
      failed: succeeded.filter((each) => !each).length,
      ios,
    };
  });
}

async function timesOf(aws: Simulator, provider: Provider, id: string): Promise<number> {
  const { Item } = await aws.dynamodb.call("GetItem", { TableName: LEDGER, Key: { id: { S: id } } });
  return provider.about(id).charged + Number((Item?.times as { readonly N?: string } | undefined)?.N ?? 0);
}
