// Collects what the clients see, and how the service is disturbed, while the demo runs.
import { wasReplayed } from "onceonly/client";
import type { Incident } from "./incidents.ts";
import type { Observation } from "./observation.ts";
import type { PlannedOrder } from "./plan.ts";
import { type Answer, type Ending, nameOf } from "./seen.ts";

export type Seen = Pick<Observation, "requests" | "answers" | "endings" | "incidents">;
type Asked = Pick<Answer, "tenant" | "key" | "asked">;
type Named = Pick<PlannedOrder, "tenant" | "key">;

export interface Journal extends Seen {
  sent(): void;
  answered(asked: Asked, response: Response): Promise<void>;
  ended(asked: Asked, ending: Pick<Ending, "status" | "failure">): void;
  happened(order: Named, incident: Incident): void;
  has(order: Named, incident: Incident): boolean;
  /** Which order clients were given; `undefined` before the first of them was given one. */
  orderIdOf(order: Named): string | undefined;
}

export function createJournal(): Journal {
  let requests = 0;
  const incidents: Seen["incidents"][number][] = [];
  const answers: Answer[] = [];
  const endings: Ending[] = [];
  const orderIds = new Map<string, string>();
  return {
    answers,
    endings,
    incidents,
    get requests() {
      return requests;
    },
    sent: () => requests++,
    async answered({ tenant, key, asked }, response) {
      const { status, headers } = response;
      const body = await response.clone().text();
      const replayed = wasReplayed(response);
      const location = headers.get("location");
      answers.push({ tenant, key, asked, status, replayed, location, body });
      if (status === 201 && location) orderIds.set(nameOf({ tenant, key }), location.replace(/^.*\//, ""));
    },
    ended: ({ tenant, key, asked }, ending) => endings.push({ tenant, key, asked, ...ending }),
    happened: ({ tenant, key }, incident) => incidents.push({ tenant, key, incident }),
    has: (order, incident) =>
      incidents.some((each) => each.incident === incident && nameOf(each) === nameOf(order)),
    orderIdOf: (order) => orderIds.get(nameOf(order)),
  };
}
