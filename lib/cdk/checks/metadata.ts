// Writes settings that `onceonly doctor --template` can't see in a template into the resource's metadata, except defaults.
import type { IConstruct } from "constructs";
import { resourceIn } from "./resolved-app.ts";

export function writeMetadata(construct: IConstruct, settings: Readonly<Record<string, unknown>>): void {
  const known = Object.entries(settings).filter(([, value]) => value !== undefined && value !== false);
  if (known.length > 0) resourceIn(construct)?.addMetadata("onceonly", Object.fromEntries(known));
}
