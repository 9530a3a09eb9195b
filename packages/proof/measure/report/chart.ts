// Horizontal bars as an SVG that is read on light and on dark pages. The same figures give the same bytes. Pure.

export interface ChartGroup {
  readonly name: string;
  readonly bars: readonly { readonly name: string; readonly value: number }[];
}

export interface ChartOptions {
  /** The value at which a line is drawn through all groups, for example the peer's 1. */
  readonly mark?: number;
  readonly show: (value: number) => string;
}

const BARS = 360;
const FIGURES = 70;
/** The average width of a character of 13 pixels, since nothing here can measure a font. */
const CHARACTER = 6.6;
const BAR = 16;
const GAP = 5;
const HEAD = 40;
const GROUP_HEAD = 26;

const COLOURS = ["#2f81f7", "#8957e5", "#bf8700", "#6e7781", "#9aa4af", "#1a7f37", "#d1242f"];

const STYLE = `text{font:13px system-ui,sans-serif;fill:#1f2328}.title{font-weight:600;font-size:15px}.group{font-weight:600}.figure{font-variant-numeric:tabular-nums}.mark{stroke:#6e7781;stroke-dasharray:4 3}@media(prefers-color-scheme:dark){text{fill:#e6edf3}}`;

export function chart(title: string, groups: readonly ChartGroup[], { mark, show }: ChartOptions): string {
  const names = [...new Set(groups.flatMap(({ bars }) => bars.map(({ name }) => name)))];
  const values = groups.flatMap(({ bars }) => bars.map(({ value }) => value)).filter(Number.isFinite);
  const labels = Math.round(Math.max(...names.map((name) => plain(name).length)) * CHARACTER) + 16;
  const total = labels + BARS + FIGURES;
  const scale = BARS / Math.max(mark ?? 0, ...values);
  const lines: string[] = [text(8, 22, title, "title")];
  let y = HEAD;
  for (const { name, bars } of groups) {
    lines.push(text(8, y + 15, name, "group"));
    y += GROUP_HEAD;
    for (const { name: label, value } of bars) {
      const width = Number.isFinite(value) ? Math.round(value * scale) : 0;
      const colour = COLOURS[names.indexOf(label) % COLOURS.length];
      lines.push(
        text(labels - 8, y + 12.5, plain(label), "label", END),
        `<rect x="${labels}" y="${y}" width="${width}" height="${BAR}" rx="2" fill="${colour}"/>`,
        // In a column: next to their bars, the mark's line would cross bars of a similar length.
        text(total - 8, y + 12.5, show(value), "figure", END),
      );
      y += BAR + GAP;
    }
    y += GAP;
  }
  if (mark !== undefined) {
    const x = labels + Math.round(mark * scale);
    lines.push(`<line class="mark" x1="${x}" y1="${HEAD + 4}" x2="${x}" y2="${y}"/>`);
  }
  const size = `width="${total}" height="${y + 8}" viewBox="0 0 ${total} ${y + 8}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="${escaped(title)}">
<style>${STYLE}</style>
${lines.join("\n")}
</svg>
`;
}

const END = ' text-anchor="end"';

/** Removes backticks, which mean nothing in a picture. */
function plain(label: string): string {
  return label.replaceAll("`", "");
}

function text(x: number, y: number, content: string, kind: string, more = ""): string {
  return `<text x="${x}" y="${y}" class="${kind}"${more}>${escaped(content)}</text>`;
}

function escaped(content: string): string {
  return content
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
