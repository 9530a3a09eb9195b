// For how long an outbox may hold a message back: an OutboxRelay tries to send it until it parks it.
import { ENVIRONMENT } from "../../../contract.ts";
import { type App, FUNCTION, objectIn, valueIn } from "../app.ts";
import type { Hop, Term } from "./hop.ts";

export const OUTBOX = "outbox";

/** As `parkAfterSeconds` of relay and sweeper, which the construct leaves at its default. */
const PARKING: Term = { seconds: 259_200, text: "259200 s in an outbox", limit: OUTBOX };

/** Relay and sweeper have the same destinations: each is counted once. */
export function outboxHops(app: App): Hop[] {
  const fed = app.ofType(FUNCTION).flatMap((fn) => {
    const variables = objectIn(valueIn(app.propertiesOf(fn), "Environment", "Variables"));
    return app.targetsIn(variables[ENVIRONMENT.outboxDestinations]);
  });
  return [...new Set(fed)].map((into) => ({ into, window: [PARKING] }));
}
