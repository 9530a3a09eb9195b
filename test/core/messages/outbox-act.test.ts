import { expect, it } from "vitest";
import { actsIn, withAct } from "../../../lib/core/messages/outbox-act.ts";

const ANA = { by: "ana", why: "ticket 4711", clock: { now: () => 7, sleep: async () => {} } };

it("keeps the first 20 of very many messages, and how many there were", () => {
  const places = Array.from({ length: 1000 }, (_, place) => place);

  const text = withAct(undefined, "drop", places, ANA);

  const { by, why } = ANA;
  expect(actsIn(text)).toEqual([{ act: "drop", messages: places.slice(0, 20), count: 1000, by, why, at: 7 }]);
});

it("uses the system's time if no clock is given", () => {
  const before = Date.now();

  const [added] = actsIn(withAct(undefined, "redirect", [0], { by: "ana", why: "moved" }));

  expect(added!.at).toBeGreaterThanOrEqual(before);
});

it.each([undefined, "", "no JSON", "null", '{"acts":7}'])("begins again after %j", (evidence) => {
  expect(actsIn(evidence)).toEqual([]);
  expect(actsIn(withAct(evidence, "drop", [0], ANA))).toHaveLength(1);
});
