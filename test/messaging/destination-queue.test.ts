import { fakeClock } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import {
  DestinationQueue,
  notSent,
  type SendEnd,
  type SendEntries,
  sentAs,
} from "../../lib/messaging/destination-queue.ts";

/** A queue of a destination that refuses the form `a1`, and all that has reached it. */
function newQueue() {
  const reached: string[] = [];
  const request: SendEntries<string> = async (forms) => {
    reached.push(...forms);
    return forms.map((form) => (form === "a1" ? notSent("Refused", false) : sentAs(form)));
  };
  const random = { token: () => "token", fraction: () => 1 };
  const queue = new DestinationQueue(request, 1000, { maxTries: 1, clock: fakeClock(), random });
  /** `a1` is of line `a`. */
  const add = (form: string) =>
    new Promise<SendEnd>((end) => queue.add({ form, bytes: 1, line: form.slice(0, 1) }, end));
  return { reached, add };
}

describe("DestinationQueue", () => {
  it("H35: sends nothing of a line that comes after one of it has failed for good, and others as before", async () => {
    const { reached, add } = newQueue();

    expect((await add("a1")).result).toEqual({ sent: false, code: "Refused" });
    expect((await add("a2")).result).toEqual({ sent: false, code: "NotAttempted" });
    expect((await add("b1")).result).toMatchObject({ sent: true });

    expect(reached).toEqual(["a1", "b1"]);
  });
});
