// Markdown. Pure.

/** The first row is the header; columns after the first are right-aligned. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const [header = [], ...body] = rows;
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = header.map((_, index) => (index === 0 ? "---" : "--:"));
  return [line(header), line(rule), ...body.map(line)].join("\n");
}
