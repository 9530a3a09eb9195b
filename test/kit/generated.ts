// The generated parts of documents.

/** The page with what stands between `<!-- name -->` and `<!-- /name -->` replaced. */
export function withGenerated(page: string, name: string, text: string): string {
  const [start, end] = [`<!-- ${name} -->\n`, `\n<!-- /${name} -->`];
  const from = page.indexOf(start);
  const to = page.indexOf(end);
  if (from < 0 || to < 0) throw new Error(`the page has no ${start.trim()} … ${end.trim()}`);
  return `${page.slice(0, from + start.length)}${text}${page.slice(to)}`;
}
