// How long an outbox can delay a message: an OutboxRelay retries sending until it parks the message.
import { ENVIRONMENT } from "../../../contract.ts";
import { type App, FUNCTION, objectIn, valueIn } from "../app.ts";
import type { Hop, Term } from "./hop.ts";

export const OUTBOX = "outbox";

/** The default of `parkAfterSeconds` in relay and sweeper, which the construct doesn't change. */
const PARKING: Term = { seconds: 259_200, text: "259200 s in an outbox", limit: OUTBOX };

/** Relay and sweeper have the same destinations, so each counts once. */
export function outboxHops(app: App): Hop[] {
  const fed = app.ofType(FUNCTION).flatMap((fn) => {
    const variables = objectIn(valueIn(app.propertiesOf(fn), "Environment", "Variables"));
    return app.targetsIn(variables[ENVIRONMENT.outboxDestinations]);
  });
  return [...new Set(fed)].map((into) => ({ into, window: [PARKING] }));
}
