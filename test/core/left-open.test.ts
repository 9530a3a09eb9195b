// Work whose caller is answered before it ends, such as that of a stack with an early timeout.
import { expect, it } from "vitest";
import { gate } from "../kit/time/gate.ts";
import { newWorld } from "./world.ts";

it("is reported as unknown, no longer counts as the caller's, and its end is recorded all the same", async () => {
  const world = newWorld();
  const { opened, open } = gate();
  const timeout = new Error("early timeout");
  let inner: Promise<unknown> | undefined;
  const call = world.start(async (attempt) => {
    attempt.leaveOpen(timeout);
    inner = world.start(async () => "inner", {}, { within: attempt });
    await opened;
    return "late";
  });

  await world.clock.advance(0);

  await expect(inner).rejects.toMatchObject({ code: "EXECUTION_IN_PROGRESS" });
  expect(world.events[0]).toMatchObject({ decision: "outcome-unknown", error: timeout });
  open();

  expect((await call).result).toBe("late");
  expect(await world.call(async () => "again")).toBe("late");
});

it("H64: the attempt stops renewing its lease when it can't see the end of its work, so another call takes over", async () => {
  const world = newWorld({ renewLease: true });
  world.start(async (attempt) => {
    await world.clock.sleep(1000);
    attempt.leaveLease();
    await new Promise(() => {});
  });

  await world.clock.advance(36_000);

  expect(await world.call(async ({ attempt }) => attempt)).toBe(2);
});
