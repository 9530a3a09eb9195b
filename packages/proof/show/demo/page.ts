// The demo as one HTML page: how each column went, the table and the result. Pure.
import { escaped, htmlPage } from "../../../explorer/lib/explorer/html-page.ts";
import type { ColumnState, Progress } from "./progress.ts";
import { type Sample, timeline } from "./timeline.ts";

export interface DemoPageParts {
  readonly heading: string;
  readonly samples: ReadonlyMap<string, readonly Sample[]>;
  /** What the demo prints at the end. */
  readonly texts: readonly string[];
}

export function demoPage({ heading, samples, texts }: DemoPageParts): string {
  const charts = [...samples].map(
    ([column, seen]) =>
      `<section><h2>${escaped(column)}</h2><div class="diagram" tabindex="0" role="group" aria-label="timeline">${timeline(`the run ${column}`, seen)}</div></section>`,
  );
  const printed = texts.map((text) => `<section><pre>${escaped(text)}</pre></section>`);
  return htmlPage(heading, [...charts, ...printed]);
}

/** Passes on to `progress` what it remembers for the page. */
export function recordingProgress(progress: Progress, nowMs: () => number) {
  const samples = new Map<string, Sample[]>();
  const begun = new Map<string, number>();
  const show = (state: ColumnState) => {
    const { column } = state;
    const beganAt = begun.get(column) ?? nowMs();
    begun.set(column, beganAt);
    samples.set(column, [...(samples.get(column) ?? []), { ...state, at: nowMs() - beganAt }]);
    progress.show(state);
  };
  return { samples, progress: { ...progress, show } };
}
