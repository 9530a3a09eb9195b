// Badges as pictures of our own, made from measurements. `npm run badges` writes the one of the coverage, from what the last
// `npm run test:unit -- --coverage` measured; test/package/badges.test.ts writes those of the sizes.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Widths of Verdana at 11 px, roughly: the text is fitted to them. */
const widthOf = (text) => Math.round(text.length * 6.6) + 12;

/** @param {string} label @param {string} value @param {"green" | "teal" | "red"} colour */
export function badge(label, value, colour) {
  const fill = { green: "#2f7d32", teal: "#0f766e", red: "#b42318" }[colour];
  const [left, right] = [widthOf(label), widthOf(value)];
  const text = (words, from, width) =>
    `<text x="${from + width / 2}" y="14" textLength="${width - 12}" lengthAdjust="spacingAndGlyphs">${words}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${label}: ${value}">
  <title>${label}: ${value}</title>
  <clipPath id="round"><rect width="${left + right}" height="20" rx="3"/></clipPath>
  <g clip-path="url(#round)"><rect width="${left}" height="20" fill="#444b52"/><rect x="${left}" width="${right}" height="20" fill="${fill}"/></g>
  <g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
    ${text(label, 0, left)}
    ${text(value, left, right)}
  </g>
</svg>
`;
}

/** Never rounded up: 99.96 % isn't 100 %. */
export function coverageBadge({ total }) {
  const [lines, branches] = [total.lines.pct, total.branches.pct].map((each) => Math.floor(each * 10) / 10);
  const value = lines === branches ? `${lines} %` : `${lines} %, branches ${branches} %`;
  return badge("coverage of core and messaging", value, Math.min(lines, branches) === 100 ? "green" : "red");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = new URL("../", import.meta.url);
  const measured = JSON.parse(readFileSync(new URL("coverage/coverage-summary.json", root), "utf8"));
  mkdirSync(new URL("docs/badges/", root), { recursive: true });
  writeFileSync(new URL("docs/badges/coverage.svg", root), coverageBadge(measured));
}
