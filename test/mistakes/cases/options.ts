import { fakeClock, fakeLambdaContext, MemoryStore } from "onceonly/testing";
import { idempotent } from "../../../lib/index.ts";
import type { Mistake } from "../given.ts";
import { messageOf } from "../given.ts";

const given = { operation: "order", store: new MemoryStore(), key: (event: { id: string }) => event.id };

/** Values of options that no call can work with. */
export const OPTION_MISTAKES: readonly Mistake[] = [
  {
    made: "gives an operation without a name",
    reportedBy: "error",
    text: "`operation` must be a string of 1 to 64 characters (got an empty string)",
    make: () => messageOf(() => idempotent(async () => 1, { ...given, operation: "" })),
  },
  {
    made: "returns no key",
    reportedBy: "error",
    text: "no idempotency key: send a key that is unique to this operation",
    make: () =>
      messageOf(() =>
        idempotent(async () => 1, { ...given, key: () => undefined })(
          { id: "1" },
          fakeLambdaContext({ clock: fakeClock() }),
        ),
      ),
  },
];
