// A run's results, as packages/proof/measure/results.json stores them.
import type { BatchFigures } from "../batch/compare-batches.ts";
import type { HotKeyResult } from "../hot-key/hot-key.ts";
import type { ServersFigures } from "../servers/compare-servers.ts";
import type { ClientFigures } from "../timing/client-race.ts";
import type { ColdStartFigures } from "../timing/cold-start.ts";
import type { RaceFigures } from "../timing/race.ts";
import type { CountedPath } from "./capacity-table.ts";
import type { SizeFigures } from "./size-section.ts";

/** By section, in the order of the document. */
export interface Figures {
  readonly client: ClientFigures;
  readonly engine: RaceFigures;
  readonly "cold-start": ColdStartFigures;
  readonly bundle: SizeFigures;
  readonly capacity: readonly CountedPath[];
  readonly "hot-key": Readonly<Record<string, HotKeyResult>>;
  readonly batch: BatchFigures;
  readonly servers: ServersFigures;
}

export type SectionName = keyof Figures;

export type Versions = Readonly<Record<string, string>>;

/** A section that was not measured yet is not there. */
export type Results = {
  readonly [name in SectionName]?: { readonly versions: Versions; readonly figures: Figures[name] };
};
