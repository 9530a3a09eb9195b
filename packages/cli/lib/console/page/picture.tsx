/** The life of a key on a time axis: attempts, leases, steps, decisions and messages. The tree below it says the same in words. */
import type { LifeMark } from "../look.ts";
import { clockOf } from "./words.ts";

const WIDTH = 360;
const ROW = 30;
const MARGIN = 6;

/** A point needs a width to be seen. */
const LEAST = 6;

export function Picture({ marks }: { readonly marks: readonly LifeMark[] }) {
  if (marks.length === 0) return null;
  const start = Math.min(...marks.map(({ from }) => from));
  const end = Math.max(...marks.map(({ from, to = from }) => to));
  const scale = (WIDTH - 2 * MARGIN) / Math.max(1, end - start);
  const placeOf = (at: number) => MARGIN + (at - start) * scale;
  const height = marks.length * ROW + 16;
  const rows = marks.map(({ lane, label, from, to = from }, row) => {
    const width = Math.max(LEAST, placeOf(to) - placeOf(from));
    return { lane, label, y: row * ROW, width, x: Math.min(placeOf(from), WIDTH - MARGIN - width) };
  });
  return (
    <svg class="picture" viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-label={textOf(marks, start, end)}>
      {rows.map(({ lane, label, x, y, width }) => (
        <g key={y} class={lane}>
          <text x={MARGIN} y={y + 12}>
            {label.length > 52 ? `${label.slice(0, 51)}…` : label}
          </text>
          <rect x={x} y={y + 17} width={width} height={8} rx={2} />
        </g>
      ))}
      <line x1={MARGIN} x2={WIDTH - MARGIN} y1={height - 14} y2={height - 14} />
      <text class="axis" x={MARGIN} y={height - 2}>
        {clockOf(start)}
      </text>
      <text class="axis" x={WIDTH - MARGIN} y={height - 2} text-anchor="end">
        {clockOf(end)} UTC
      </text>
    </svg>
  );
}

/** Such as `Time axis from 09:12:03 to 09:12:09: attempt 1 from 0 s to 6 s; step charge: done at 2 s`. */
function textOf(marks: readonly LifeMark[], start: number, end: number): string {
  const after = (at: number) => `${Math.round((at - start) / 100) / 10} s`;
  const each = marks.map(({ label, from, to }) =>
    to === undefined || to === from
      ? `${label} at ${after(from)}`
      : `${label} from ${after(from)} to ${after(to)}`,
  );
  return `Time axis from ${clockOf(start)} to ${clockOf(end)} UTC: ${each.join("; ")}`;
}
