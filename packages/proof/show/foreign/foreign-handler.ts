// A handler in the shape of a public sample, what it's explored with, and the verdict that is right for it.
import type { FindingKind } from "../../../explorer/lib/explorer/finding.ts";
import type { ExploreOptions } from "../../../explorer/lib/explorer/options.ts";
import type { ExploredEvent } from "../../../explorer/lib/explorer/scenario.ts";

interface Given {
  /** In `handlers`. */
  readonly file: string;
  /** Where such code is found: the kind of sample, and its libraries. */
  readonly shape: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly event: ExploredEvent;
  readonly options?: ExploreOptions;
}

export interface ForeignHandler extends Given {
  readonly does: string;
  /**
   * Which kinds of findings are right, none for a handler that is exactly once. It's decided by reading the handler, never by
   * running it: a report that says otherwise fails the command.
   */
  readonly right: readonly FindingKind[];
  /** The reason, for the page. */
  readonly why: string;
  /** What one of the findings must say. */
  readonly says?: string;
  /** The handler in `handlers/fixed` with the same name: what was changed there. It must be exactly once. */
  readonly fix?: string;
}

/** A handler that the explorer refuses. */
export interface RefusedHandler extends Given {
  /** Part of the error. */
  readonly refusal: string;
  readonly why: string;
  /** What to do instead. */
  readonly instead: string;
}
