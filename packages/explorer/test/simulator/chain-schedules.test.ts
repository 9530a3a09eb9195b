import { DynamoDBOutbox } from "onceonly/dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type MessageProgress, UNTRIED, type Unsent } from "../../../../lib/core/messages/outbox.ts";
import { inTier } from "../../../../test/setup/tier.ts";
import { effect } from "./given.ts";
import { playChain, type Without } from "./plays/chain.ts";
import { chainPlanOf } from "./plays/chain-plan.ts";
import { chainFaultsOf } from "./plays/chain-verdict.ts";
import { playAll, report, type Schedule, seedsFrom, summary } from "./plays/schedules.ts";

const COUNT = Number(process.env.ONCEONLY_SCHEDULES ?? inTier(15, 60));
const FIRST_SEED = Number(process.env.ONCEONLY_SEED ?? 1);
/** What a schedule may take on a machine that has other things to do too. */
const MS_PER_SCHEDULE = 3000;

const { error } = console;

beforeAll(() => {
  // Too many for a spy, which keeps them.
  console.error = () => undefined;
});

afterAll(() => {
  console.error = error;
});

const playOne =
  (without: Without = {}) =>
  async (seed: number): Promise<Schedule> => {
    const plan = chainPlanOf(seed);
    const played = await playChain(plan, without);
    const counts = { "with parked messages": Number(played.parked > 0) };
    return { aws: played.aws, wrong: await chainFaultsOf(plan, played), counts };
  };

describe("a chain with a destination that stays and one that goes and comes", () => {
  it(
    "H72: whatever dies, healthy destinations get each message, in its order, and again only after a kill or a lost answer",
    async () => {
      const { failure, ...tally } = await playAll(seedsFrom(FIRST_SEED, COUNT), playOne());
      if (failure) expect.fail(report(failure, "chain-schedules"));
      process.stderr.write(summary(tally));
      expect(tally.schedules).toBe(COUNT);
    },
    30_000 + COUNT * MS_PER_SCHEDULE,
  );

  it("plays a schedule the same way again, byte for byte", async () => {
    const [first, again] = [await playOne()(3), await playOne()(3)];
    expect(again.aws.traceText()).toBe(first.aws.traceText());
  });
});

/** What was sent counts as sent only where all of the commit was. */
class WholeCommits extends DynamoDBOutbox {
  override keep(unsent: Unsent, progress: readonly MessageProgress[], dueAt: number): Promise<void> {
    const forgotten = progress.map((each) => (each.state === "sent" ? UNTRIED : each));
    return super.keep(unsent, forgotten, dueAt);
  }
}

/** No sender learns that a line has to wait. */
class SilentSenders extends DynamoDBOutbox {
  override async readNotes(): Promise<undefined> {}
  override async replaceNotes(): Promise<true> {
    return true;
  }
}

/** Nobody tries again what failed. */
class Optimists extends DynamoDBOutbox {
  override async keep(unsent: Unsent, progress: readonly MessageProgress[]): Promise<void> {
    await this.markSent(unsent, progress);
  }
}

describe("the schedules of the chain find out", () => {
  it.each<readonly [string, Without, RegExp]>([
    [
      "an outbox that marks whole commits only",
      { outbox: (options) => new WholeCommits(options) },
      /was sent \d+ times to healthy/,
    ],
    [
      "senders that do not tell each other what waits",
      { outbox: (options) => new SilentSenders(options) },
      /came to (healthy|third).fifo before/,
    ],
    [
      "an outbox that forgets what failed",
      { outbox: (options) => new Optimists(options) },
      /never reached healthy|0 effects instead of 1/,
    ],
    [
      "a consumer without a record",
      {
        consumer: (destination) => async (event: { Records: readonly { body: string }[] }) => {
          for (const { body } of event.Records) await effect(`${body.trim()} at ${destination}`);
        },
      },
      /\d effects instead of 1/,
    ],
  ])(
    "%s",
    async (_, without, wrong) => {
      const { failure } = await playAll(seedsFrom(1, 300), playOne(without));
      expect(failure?.wrong.join("; ")).toMatch(wrong);
    },
    300_000,
  );
});
