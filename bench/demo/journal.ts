// Collects what the clients see while the demo runs.
import { wasReplayed } from "onceonly/client";
import type { Answer, Ending, Observation } from "./observation.ts";
import type { KillPoint } from "./plan.ts";

export type Seen = Pick<Observation, "requests" | "answers" | "endings" | "gaveUp" | "kills">;
type Asked = Pick<Answer, "tenant" | "key" | "asked">;

export interface Journal extends Seen {
  sent(): void;
  answered(asked: Asked, response: Response): Promise<void>;
  ended(asked: Asked, ending: Pick<Ending, "status" | "failure">): void;
  gaveUpOne(): void;
  killedAt(point: KillPoint): void;
}

export function createJournal(): Journal {
  const counts = { requests: 0, gaveUp: 0 };
  const kills: KillPoint[] = [];
  const answers: Answer[] = [];
  const endings: Ending[] = [];
  return {
    answers,
    endings,
    kills,
    get requests() {
      return counts.requests;
    },
    get gaveUp() {
      return counts.gaveUp;
    },
    sent: () => counts.requests++,
    async answered({ tenant, key, asked }, response) {
      const { status, headers } = response;
      const body = await response.clone().text();
      const replayed = wasReplayed(response);
      answers.push({ tenant, key, asked, status, replayed, location: headers.get("location"), body });
    },
    ended: ({ tenant, key, asked }, ending) => endings.push({ tenant, key, asked, ...ending }),
    gaveUpOne: () => counts.gaveUp++,
    killedAt: (point) => kills.push(point),
  };
}
