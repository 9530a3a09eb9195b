/** One file of HTML that needs no network and runs no script, in a light and a dark scheme. Pure. */
import { visible } from "onceonly/kit";

/** @param sections HTML with escaped text */
export function htmlPage(title: string, sections: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>onceonly: ${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
${sections.join("\n")}
</main>
</body>
</html>
`;
}

/** A string of several lines, built from one line each. */
export const escapedLines = (words: string): string => words.split("\n").map(escaped).join("\n");

/** One line of text as HTML and as an attribute of it. */
export function escaped(words: string): string {
  return visible(words).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const STYLE = `
:root{--text:#1a1c1e;--back:#fff;--faint:#5a6068;--line:#c3c8ce;--bad:#b3261e;--good:#1b6e3c}
@media (prefers-color-scheme:dark){:root{--text:#e8eaed;--back:#16181b;--faint:#a2a9b1;--line:#4a5058;--bad:#ff8a80;--good:#7ddb9c}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--text);background:var(--back);margin:0}
main{max-width:72rem;margin:auto;padding:1rem}
section{border-top:1px solid var(--line)}
.bad{color:var(--bad)}.good{color:var(--good)}
.diagram{overflow-x:auto}
table{border-collapse:collapse}th,td{text-align:left;padding:.2rem .8rem .2rem 0}
pre{overflow-x:auto}
svg text{font:12px system-ui,sans-serif;fill:var(--text);text-anchor:middle}
svg .head{font-weight:600}
svg .time{text-anchor:end;fill:var(--faint);font-size:11px}
svg .folded{text-anchor:start}
svg .lane{stroke:var(--line);stroke-dasharray:3 4}
svg .step line{stroke:var(--text)}svg .step path,svg .step circle{fill:var(--text)}
svg .disturbed line{stroke:var(--bad);stroke-dasharray:6 4}svg .disturbed path,svg .disturbed circle,svg .disturbed .label{fill:var(--bad)}
svg polyline{fill:none;stroke-width:2}svg .answered{stroke:var(--faint)}svg .settled{stroke:var(--good)}
p .answered{color:var(--faint)}p .settled{color:var(--good)}
svg .cross{stroke:var(--bad);stroke-width:2.5}
`;
