// Who runs for time, all with one order per first run; the first is the bare handler, the last the peer.
import type { Invoke } from "../contestants/lambda-call.ts";
import { committingOrder, onceonlyHttp } from "../contestants/onceonly.ts";
import { powertoolsHttp } from "../contestants/powertools.ts";
import { puttingOrder, type World } from "../contestants/world.ts";

export function speedContestants(world: World): Readonly<Record<string, Invoke>> {
  const records = { client: world.client, tableName: world.onceonlyTable };
  const putting = puttingOrder(world);
  const committing = committingOrder(world);
  const optimistic = (lookFirst: boolean) => onceonlyHttp(records, { mode: "optimistic", lookFirst });
  return {
    "bare handler": putting as Invoke,
    "onceonly, claimed": onceonlyHttp(records)(putting),
    "onceonly, claimed, with a commit": onceonlyHttp(records)(committing),
    "onceonly, optimistic": optimistic(true)(committing),
    "onceonly, optimistic, `lookFirst: false`": optimistic(false)(committing),
    Powertools: powertoolsHttp(world)(putting),
  };
}
