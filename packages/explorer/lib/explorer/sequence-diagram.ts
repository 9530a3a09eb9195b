/** A run as a sequence diagram: a line for each participant, an arrow for each step, the disturbance marked. Pure. */
import { escaped } from "./html-page.ts";
import type { FoldedSteps, TraceStep } from "./trace-steps.ts";

const COLUMN = 210;
const ROW = 34;
const HEAD = 44;
const TIMES = 76;
/** A longer label would run into the next column; hovering shows its full text, which is also in the trace. */
const MAX_LABEL = 34;

/** An SVG for a page of HTML; its colours are the page's classes. */
export function sequenceDiagram(title: string, steps: readonly (TraceStep | FoldedSteps)[]): string {
  const lanes = [...new Set(steps.flatMap((step) => ("more" in step ? [] : [step.from, step.to])))];
  const xOf = (lane: string) => TIMES + COLUMN * (lanes.indexOf(lane) + 0.5);
  const [width, height] = [TIMES + COLUMN * lanes.length, HEAD + ROW * (steps.length + 1)];
  const heads = lanes.map((lane) => {
    const x = xOf(lane);
    return `<line class="lane" x1="${x}" y1="${HEAD}" x2="${x}" y2="${height}"/>${text("head", x, HEAD - 18, lane)}`;
  });
  const rows = steps.map((step, index) => row(step, HEAD + ROW * (index + 1), xOf));
  return `<svg role="img" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"><title>${escaped(title)}</title>
${[...heads, ...rows].join("\n")}
</svg>`;
}

function row(step: TraceStep | FoldedSteps, y: number, xOf: (lane: string) => number): string {
  if ("more" in step) return text("time folded", TIMES, y, `… ${step.more} more`);
  const { at, from, to, label, point, disturbance } = step;
  const time = text("time", TIMES - 8, y + 4, `${(at / 1000).toFixed(3)} s`);
  const [start, end] = [xOf(from), xOf(to)];
  const number = point === undefined ? "" : `${point} `;
  const mark = disturbance === undefined ? "" : " disturbed";
  const words = disturbance === undefined ? label : `${label} – ${disturbance}`;
  if (start === end) {
    return `<g class="step${mark}">${time}<circle cx="${start}" cy="${y}" r="4"/>${text("label", start, y - 8, words)}</g>`;
  }
  const tip = end > start ? -7 : 7;
  const arrow = `<line x1="${start}" y1="${y}" x2="${end}" y2="${y}"/><path d="M${end} ${y}l${tip} -4v8z"/>`;
  const cross = disturbance === undefined ? "" : crossAt(start + (end - start) / 4, y);
  return `<g class="step${mark}">${time}${arrow}${cross}${text("label", (start + end) / 2, y - 8, number + words)}</g>`;
}

const crossAt = (x: number, y: number) => `<path class="cross" d="M${x - 6} ${y - 6}l12 12m0 -12l-12 12"/>`;

function text(name: string, x: number, y: number, words: string): string {
  const short = words.length > MAX_LABEL ? `${words.slice(0, MAX_LABEL - 1)}…` : words;
  const whole = short === words ? "" : `<title>${escaped(words)}</title>`;
  return `<text class="${name}" x="${x}" y="${y}">${escaped(short)}${whole}</text>`;
}
