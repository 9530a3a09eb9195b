// How a run went, as a chart: its phases, orders that were answered and settled, and kills and lost answers as they came. Pure.
import { escaped } from "../../../explorer/lib/explorer/html-page.ts";
import type { ProgressState } from "./progress.ts";

/** A state of the run, and when it was. */
export interface Sample extends ProgressState {
  /** Milliseconds since the first state. */
  readonly at: number;
}

const [LEFT, WIDTH, TOP, HEIGHT, MARKS] = [110, 880, 70, 220, 24];
/** Names of phases stand in turn on so many lines, as short phases follow one another. */
const LEVELS = 4;
const LINES = ["answered", "settled"] as const;
const COUNTS = [
  ["kills", "kills"],
  ["lostAnswers", "lost answers"],
] as const;

/** An SVG for a page of HTML, of one sample or more. */
export function timeline(title: string, samples: readonly Sample[]): string {
  const endMs = Math.max(1, samples.at(-1)?.at ?? 0);
  const total = samples.at(-1)?.total ?? 0;
  const x = (at: number) => round(LEFT + (at / endMs) * WIDTH);
  // Without onceonly more is done than was ordered.
  const most = Math.max(1, total, ...samples.flatMap((sample) => LINES.map((name) => sample[name])));
  const y = (count: number) => round(TOP + HEIGHT - (count / most) * HEIGHT);
  const bottom = TOP + HEIGHT + MARKS * (COUNTS.length + 1);
  const lines = LINES.map((name) => {
    const points = samples.map((sample) => `${x(sample.at)},${y(sample[name])}`).join(" ");
    return `<polyline class="${name}" points="${points}"/>`;
  });
  const marks = COUNTS.flatMap(([name, words], row) => {
    const height = TOP + HEIGHT + MARKS * (row + 1);
    const ticks = risesOf(samples, name).map((at) => `<path class="cross" d="M${x(at)} ${height - 6}v12"/>`);
    const count = samples.at(-1)?.[name] ?? 0;
    return [text("time", LEFT - 8, height + 4, `${count} ${words}`), ...ticks];
  });
  const phases = phasesOf(samples).map(({ phase, at }, index) => {
    const [end, level] = [x(at), 16 + (index % LEVELS) * 14];
    const isLate = end > LEFT + WIDTH - 100;
    const line = `<line class="lane" x1="${end}" y1="${level}" x2="${end}" y2="${bottom}"/>`;
    return line + text(isLate ? "time" : "folded", end + (isLate ? -4 : 4), level, phase);
  });
  const axis = [
    `<line class="lane" x1="${LEFT}" y1="${y(total)}" x2="${LEFT + WIDTH}" y2="${y(total)}"/>`,
    text("time", LEFT - 8, y(total) + 4, `${total} orders`),
    text("time", LEFT - 8, TOP + HEIGHT, "0"),
    text("time", LEFT + WIDTH, bottom, `${round(endMs / 1000)} s`),
  ];
  return `<svg role="img" viewBox="0 0 ${LEFT + WIDTH + 10} ${bottom + 10}" width="${LEFT + WIDTH + 10}"><title>${escaped(title)}</title>
${[...phases, ...axis, ...lines, ...marks].join("\n")}
</svg>
<p><span class="answered">━</span> orders whose clients have their answers <span class="settled">━</span> orders that are paid or declined</p>`;
}

function phasesOf(samples: readonly Sample[]): readonly Sample[] {
  return samples.filter(({ phase }, index) => phase !== samples[index - 1]?.phase);
}

function risesOf(samples: readonly Sample[], name: (typeof COUNTS)[number][0]): readonly number[] {
  return samples
    .filter((sample, index) => sample[name] > (samples[index - 1]?.[name] ?? 0))
    .map(({ at }) => at);
}

const round = (number: number) => Math.round(number * 10) / 10;

const text = (name: string, x: number, y: number, words: string) =>
  `<text class="${name}" x="${x}" y="${y}">${escaped(words)}</text>`;
