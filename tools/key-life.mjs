/** Draws docs/pictures/key-life.svg, the picture of the README, from the lives below: node tools/key-life.mjs */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * Times run from 0 to 100. `states` are the record's, `events` change the record, `answers` are what callers get.
 * @typedef {{ from: number, to: number, name: string, kind: "progress" | "dead" | "released" | "completed" | "expired" }} State
 * @typedef {{ at: number, text: string }} Mark
 * @typedef {{ title: string, states: State[], leases: [number, number][], events: Mark[], answers: Mark[] }} Life
 */

/** @type {Life[]} */
const LIVES = [
  {
    title: "The handler completes",
    states: [
      { from: 4, to: 38, name: "in progress", kind: "progress" },
      { from: 38, to: 86, name: "completed", kind: "completed" },
      { from: 86, to: 99, name: "expired", kind: "expired" },
    ],
    leases: [[4, 48]],
    events: [
      { at: 4, text: "claim" },
      { at: 38, text: "complete" },
      { at: 86, text: "retention over" },
    ],
    answers: [
      { at: 21, text: "duplicate: 409" },
      { at: 38, text: "201" },
      { at: 62, text: "replay: 201" },
      { at: 92.5, text: "a new key" },
    ],
  },
  {
    title: "The handler fails",
    states: [
      { from: 4, to: 28, name: "in progress", kind: "progress" },
      { from: 28, to: 46, name: "released", kind: "released" },
      { from: 46, to: 70, name: "attempt 2", kind: "progress" },
      { from: 70, to: 99, name: "completed", kind: "completed" },
    ],
    leases: [
      [4, 28],
      [46, 80],
    ],
    events: [
      { at: 4, text: "claim" },
      { at: 28, text: "release" },
      { at: 46, text: "claim" },
      { at: 70, text: "complete" },
    ],
    answers: [
      { at: 28, text: "500" },
      { at: 70, text: "201" },
      { at: 86, text: "replay: 201" },
    ],
  },
  {
    title: "The process dies",
    states: [
      { from: 4, to: 20, name: "in progress", kind: "progress" },
      { from: 20, to: 58, name: "in progress, nobody runs", kind: "dead" },
      { from: 58, to: 78, name: "attempt 2", kind: "progress" },
      { from: 78, to: 99, name: "completed", kind: "completed" },
    ],
    leases: [
      [4, 48],
      [58, 88],
    ],
    events: [
      { at: 4, text: "claim" },
      { at: 20, text: "crash" },
      { at: 48, text: "lease ends" },
      { at: 58, text: "take over" },
      { at: 78, text: "complete" },
    ],
    answers: [
      { at: 34, text: "retry: 409" },
      { at: 78, text: "201" },
      { at: 90, text: "replay: 201" },
    ],
  },
];

const TITLE = "The life of one idempotency key: claim, run, complete, replay; release; take over; expiry";
const SCALE = 8;
const LEFT = 12;
const TOP = 16;
/** The height of one life, and where its parts stand in it. */
const LIFE = 132;
const AT = { title: 12, event: 40, lease: 52, state: 60, answer: 108 };
const STATE_HEIGHT = 28;

const STYLE = `text{font:13px system-ui,sans-serif;fill:#1f2328;text-anchor:middle}.title{font-weight:600;font-size:15px;text-anchor:start}.name{fill:#fff}.dark{fill:#1f2328}.lease{stroke:#8957e5;stroke-width:4}.event{stroke:#6e7781}.progress{fill:#1f6feb}.dead{fill:#6e7781}.released{fill:#d4a72c}.completed{fill:#1a7f37}.expired{fill:none;stroke:#6e7781;stroke-dasharray:4 3}.plain{fill:#1f2328}@media(prefers-color-scheme:dark){text,.plain{fill:#e6edf3}.name{fill:#fff}.dark{fill:#1f2328}}`;

/** The picture. The same lives give the same bytes. */
export function keyLife() {
  const width = 2 * LEFT + 100 * SCALE;
  const height = TOP + LIVES.length * LIFE + 20;
  const legend = TOP + LIVES.length * LIFE + 4;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${TITLE}">
<style>${STYLE}</style>
${LIVES.map((life, index) => lines(life, TOP + index * LIFE).join("\n")).join("\n")}
<line class="lease" x1="${x(4)}" y1="${legend - 4}" x2="${x(9)}" y2="${legend - 4}"/>
<text x="${x(10)}" y="${legend}" style="text-anchor:start">lease. Above a bar: requests that change the record. Below: the answers to callers.</text>
</svg>
`;
}

/** @param {Life} life @param {number} top */
function lines({ title, states, leases, events, answers }, top) {
  return [
    `<text class="title" x="${LEFT}" y="${top + AT.title}">${title}</text>`,
    ...events.flatMap(({ at, text }) => [
      `<line class="event" x1="${x(at)}" y1="${top + AT.event + 5}" x2="${x(at)}" y2="${top + AT.state + STATE_HEIGHT}"/>`,
      `<text x="${x(at)}" y="${top + AT.event}">${text}</text>`,
    ]),
    ...leases.map(
      ([from, to]) =>
        `<line class="lease" x1="${x(from)}" y1="${top + AT.lease}" x2="${x(to)}" y2="${top + AT.lease}"/>`,
    ),
    ...states.flatMap(({ from, to, name, kind }) => [
      `<rect class="${kind}" x="${x(from)}" y="${top + AT.state}" width="${(to - from) * SCALE}" height="${STATE_HEIGHT}" rx="3"/>`,
      `<text class="${{ released: "dark", expired: "plain" }[kind] ?? "name"}" x="${x((from + to) / 2)}" y="${top + AT.state + 18}">${name}</text>`,
    ]),
    ...answers.map(({ at, text }) => `<text x="${x(at)}" y="${top + AT.answer}">${text}</text>`),
  ];
}

/** @param {number} time */
function x(time) {
  return LEFT + time * SCALE;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL("../docs/pictures/key-life.svg", import.meta.url), keyLife());
}
