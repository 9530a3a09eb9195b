// The cost of the paths that both packages have, and whose bundle is smaller: all of it counted, none of it timed.
import { capacityPaths, type Path } from "../../measure/capacity/paths.ts";
import { createWorld } from "../../measure/contestants/world.ts";
import type { Tally } from "../../measure/metering/meter.ts";
import { meteredClient } from "../../measure/metering/metered-client.ts";
import { OWN_MIDDLEWARE, PEER_MIDDLEWARE, type Weight, weigh } from "../../measure/size/entries.ts";

export interface CostOfPath {
  readonly path: string;
  readonly onceonly: Tally;
  readonly powertools: Tally;
}

export async function countCosts(endpoint: string): Promise<readonly CostOfPath[]> {
  const metered = await meteredClient(endpoint);
  const paths = capacityPaths(metered, await createWorld(metered.client));
  const costs: CostOfPath[] = [];
  for (const { name, onceonly, powertools, powertoolsRemark } of paths) {
    // A remark means that the peer does something else there.
    if (powertools === undefined || powertoolsRemark !== undefined) continue;
    costs.push({ path: name, onceonly: await onceonly(), powertools: await powertools() });
  }
  const commit = await pathNamed(paths, "first run committing 1 order, claimed").onceonly();
  const put = await pathNamed(
    paths,
    "first run, the handler puts 1 order on its own (not atomic)",
  ).powertools?.();
  if (put !== undefined) {
    const path = "first run with 1 order: in onceonly's commit, with Powertools on its own";
    costs.push({ path, onceonly: commit, powertools: put });
  }
  metered.client.destroy();
  return costs;
}

/** The package with fewer bytes, by the thing that is measured. */
export async function smallerBundles(): Promise<Readonly<Record<string, string>>> {
  const weights = await weigh([OWN_MIDDLEWARE, PEER_MIDDLEWARE]);
  const { [OWN_MIDDLEWARE]: own, [PEER_MIDDLEWARE]: peer } = weights as Record<string, Weight>;
  const smaller = (bytes: "ownBytes" | "gzipBytes") =>
    own![bytes] < peer![bytes] ? "onceonly" : "Powertools";
  return { "its own code, minified": smaller("ownBytes"), "all of it, gzipped": smaller("gzipBytes") };
}

function pathNamed(paths: readonly Path[], name: string): Path {
  const path = paths.find((candidate) => candidate.name === name);
  if (path === undefined) throw new Error(`there is no path "${name}"`);
  return path;
}
