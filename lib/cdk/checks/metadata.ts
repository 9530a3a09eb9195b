// What `onceonly doctor --template` can't see in a template is written into the metadata of its resource, unless it's a default.
import type { IConstruct } from "constructs";
import { resourceIn } from "./resolved-app.ts";

export function tellDoctor(construct: IConstruct, said: Readonly<Record<string, unknown>>): void {
  const known = Object.entries(said).filter(([, value]) => value !== undefined && value !== false);
  if (known.length > 0) resourceIn(construct)?.addMetadata("onceonly", Object.fromEntries(known));
}
