// A message that was handled, whose answer was lost, and that is parked for days before it is sent again.
import { randomUUID } from "node:crypto";
import { describe, expect, inject, it } from "vitest";
import { newProcess } from "../kit/faults/dying-process.ts";
import { failEntries, WRONG } from "../kit/faults/faulty-sqs.ts";
import { connect } from "../kit/tables.ts";
import { newOutboxWorld } from "./outbox-world.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY_SECONDS = 86_400;

/** How long it is parked, how long its consumer remembers, and whether DynamoDB has deleted what has expired. */
const CASES = [23, 25, 73].flatMap((hours) =>
  [undefined, DAY_SECONDS].flatMap((retentionSeconds) =>
    [true, false].map((deletes) => ({ hours, retentionSeconds, deletes })),
  ),
);

describe.each(inject("dynamodbEngines"))("on $name", ({ endpoint }) => {
  it.each(CASES)(
    "H79: R1: a message that was handled, then parked for $hours h and sent again has one effect (retention $retentionSeconds s, expired records deleted: $deletes)",
    async ({ hours, retentionSeconds, deletes }) => {
      const errors: unknown[] = [];
      const onRecordError = (error: unknown) => void errors.push(error);
      const world = await newOutboxWorld(connect(endpoint), endpoint, { onRecordError, retentionSeconds });
      const group = `${randomUUID()}-`;
      await world.order({ key: group, messages: [world.message(`${group}1`)] });
      // The queue accepts the message, and the relay dies before it gets the answer.
      await world.relay(newProcess({ at: 2, isApplied: true }));
      await world.consume();
      expect(await world.effectsOf(group)).toEqual([`${group}1`]);
      let isDown = true;
      failEntries(world.sqs, () => (isDown ? WRONG : undefined));
      await world.clock.advance(2 * MINUTE);
      await world.sweep({ parkAfterTries: 1 });

      await world.clock.advance(hours * HOUR);
      if (deletes) await world.deleteExpired();
      isDown = false;
      const parked: object[] = [];
      for await (const { commit } of world.outbox.list("parked")) parked.push(commit!);
      expect(parked).toHaveLength(1);
      const act = { by: "ana", why: "the queue is back", clock: world.clock };
      expect(await world.outbox.sendAgain(parked[0] as never, act)).toBe(true);
      const sent: (number | undefined)[] = [];
      for (let sweeps = 0; sweeps < 20 && !sent.includes(1); sweeps++) {
        await world.clock.advance(MINUTE);
        sent.push((await world.sweep())?.sent);
      }
      expect(sent).toContain(1);
      const isForgotten = retentionSeconds === DAY_SECONDS && hours > 24;
      const consumed = world.consume();

      if (isForgotten) await expect(consumed).rejects.toThrow("0 of 1 records succeeded");
      else await consumed;
      expect(errors.map((error) => (error as { code: string }).code)).toEqual(
        isForgotten ? ["IDEMPOTENCY_KEY_INVALID"] : [],
      );
      expect(await world.effectsOf(group)).toEqual([`${group}1`]);
      await world.stop();
    },
  );
});
