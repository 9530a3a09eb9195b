// A run's results, as packages/proof/measure/results.json stores them.
import type { BatchFigures } from "../batch/compare-batches.ts";
import type { GrowthFigures } from "../growth/series.ts";
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
  readonly growth: GrowthFigures;
}

export type SectionName = keyof Figures;

export type Versions = Readonly<Record<string, string>>;

/** When and with what a section was measured. The optional fields are absent in results from before they were recorded. */
export interface Measurement {
  readonly versions: Versions;
  /** Such as 2026-11-28. */
  readonly day?: string;
  /** A hash of the code: see code-version.ts. */
  readonly code?: string;
  /** The share of the processors that other work used just before; only for sections that measure time. */
  readonly busyShare?: number;
}

/** A section that was not measured yet is not there. */
export type Results = {
  readonly [name in SectionName]?: Measurement & { readonly figures: Figures[name] };
};
