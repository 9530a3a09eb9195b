// Writes settings that `onceonly doctor --template` can't see in a template into the resource's metadata, except defaults.
import type { IConstruct } from "constructs";
import { resourceIn } from "./resolved-app.ts";

export function tellDoctor(construct: IConstruct, said: Readonly<Record<string, unknown>>): void {
  const known = Object.entries(said).filter(([, value]) => value !== undefined && value !== false);
  if (known.length > 0) resourceIn(construct)?.addMetadata("onceonly", Object.fromEntries(known));
}
