// Writes docs/proof/mutation.md from Stryker's reports and the reasons in reasons.json. Fails, and writes nothing,
// if a surviving mutant has no reason, or a reason has no surviving mutant. Files whose present code wasn't run are listed as such.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const CLASSES = {
  equivalent: "no caller, store or observer can see a difference",
  guarded: "another check or another layer refuses the same case",
  unloadable:
    "the file can't be loaded any more: every test file fails, but Stryker counts failing tests, and there are none left",
  text: "only the words of a message differ",
  cost: "only time, memory or the number of requests differs",
  unreachable: "differs only for values that the types and the callers inside the package never pass",
  system:
    "differs only in what the system's clock or another runtime does, which tests in virtual time don't see",
};

const FOUND = ["Killed", "Timeout", "RuntimeError"];

const FOLDERS = ["core", "messaging"];

const root = (path) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const read = (path) => readFileSync(root(path), "utf8");
const oneLine = (code) => code.replace(/\s+/g, " ").trim();

const reported = Object.assign(
  {},
  ...FOLDERS.map((folder) => JSON.parse(read(`reports/mutation-${folder}.json`)).files),
);
const present = FOLDERS.flatMap((folder) =>
  readdirSync(root(`lib/${folder}`), { recursive: true, encoding: "utf8" })
    .map((name) => `lib/${folder}/${name}`)
    .filter((name) => name.endsWith(".ts") && !isOnlyTypes(name)),
).sort();
/** A report of older sources proves nothing about the present ones. */
const names = present.filter((name) => reported[name]?.source === read(name));
const notRun = present.filter((name) => !names.includes(name));
const files = Object.fromEntries(names.map((name) => [name, reported[name]]));
const reasons = JSON.parse(read("packages/proof/mutation/reasons.json"));
const faults = misclassified();

const used = new Set();
const survivors = Object.fromEntries(names.map((name) => [name, survivorsOf(name)]));
const unused = Object.entries(reasons).flatMap(([name, entries]) =>
  entries
    .filter((entry) => !used.has(entry) && !notRun.includes(name))
    .map((entry) => `no such survivor: ${name} ${JSON.stringify(entry)}`),
);
faults.push(...unused);
if (faults.length > 0) {
  console.error(faults.join("\n"));
  console.error(`${faults.length} faults: docs/proof/mutation.md is not written`);
  process.exit(1);
}
writeFileSync(root("docs/proof/mutation.md"), page());
console.log(
  `docs/proof/mutation.md: ${names.length} of ${present.length} files, ${Object.values(survivors).flat().length} surviving mutants, each with its reason`,
);

function isOnlyTypes(name) {
  return !/^(export )?(async )?(abstract )?(const|let|function|class) /m.test(read(name));
}

function misclassified() {
  const entries = Object.values(reasons).flat();
  return entries
    .filter((entry) => !(entry.class in CLASSES) || !entry.why)
    .map((entry) => `class and why are needed: ${JSON.stringify(entry)}`);
}

function survivorsOf(name) {
  const lines = files[name].source.split("\n");
  return files[name].mutants
    .filter(({ status }) => status === "Survived" || status === "NoCoverage")
    .sort((left, right) => order(left.location) - order(right.location))
    .flatMap((mutant) => {
      const { start, end } = mutant.location;
      const taken = lines.slice(start.line - 1, end.line);
      taken[taken.length - 1] = taken.at(-1).slice(0, end.column - 1);
      taken[0] = taken[0].slice(start.column - 1);
      const from = oneLine(taken.join("\n"));
      const to = oneLine(mutant.replacement);
      const line = lines[start.line - 1];
      const entry = (reasons[name] ?? []).find(
        (each) => each.from === from && [each.to].flat().includes(to) && line.includes(each.in ?? ""),
      );
      if (entry === undefined)
        faults.push(`no reason: ${name}:${start.line} ${JSON.stringify({ from, to })}`);
      else used.add(entry);
      return entry ? [{ ...entry, line: start.line, from, to }] : [];
    });
}

/** What the score is about, unless it's everything. */
function scope(atLoad) {
  const parts = [];
  if (notRun.length > 0)
    parts.push(
      `**The run isn't complete.** Of ${present.length} files, the present code of ${names.length} was run: those in the table.`,
    );
  if (atLoad > 0)
    parts.push(
      `${atLoad} mutants in code that runs while a file is loaded were left out (\`--ignoreStatic\`), and count as ignored.`,
    );
  return parts.map((part) => `${part}\n\n`).join("");
}

function order({ start }) {
  return start.line * 10_000 + start.column;
}

function count(mutants, ...statuses) {
  return mutants.filter(({ status }) => statuses.includes(status)).length;
}

function row(name, mutants) {
  const found = count(mutants, ...FOUND);
  const left = count(mutants, "Survived", "NoCoverage");
  const score = found + left === 0 ? "–" : `${((100 * found) / (found + left)).toFixed(1)} %`;
  return `| ${name} | ${found + left} | ${found} | ${left} | ${count(mutants, "Ignored")} | ${score} |`;
}

function code(text) {
  const short = text.length > 140 ? `${text.slice(0, 139)}…` : text;
  return short.includes("`") ? `\`\` ${short} \`\`` : `\`${short}\``;
}

function page() {
  const all = names.flatMap((name) => files[name].mutants);
  const every = Object.values(survivors).flat();
  const judged = all.length - count(all, "Ignored");
  const atLoad = all.filter(({ statusReason }) => statusReason?.startsWith("Static mutant")).length;
  const found = count(all, ...FOUND);
  const withReasons = names
    .filter((name) => survivors[name].length > 0)
    .map((name) => {
      const items = survivors[name].map(
        (each) =>
          `- Line ${each.line}: ${code(each.from)} → ${code(each.to || "nothing")}\n  *${each.class}*: ${each.why}`,
      );
      return `### ${name}\n\n${items.join("\n")}`;
    });
  const classes = Object.entries(CLASSES)
    .map(([name, meaning]) => [name, meaning, every.filter((each) => each.class === name).length])
    .filter(([, , number]) => number > 0)
    .map(([name, meaning, number]) => `| ${name} | ${meaning} | ${number} |`);
  return `# Mutation tests of the core and of messaging

Would our tests notice a bug? This page answers that by making bugs on purpose, and counting how many make a test fail.

<!-- Written by packages/proof/mutation/report.mjs from a run and from packages/proof/mutation/reasons.json: change those. -->

A mutant is \`lib/core\` or \`lib/messaging\` with one small bug put in: a condition turned round, a statement left out, a number
changed. Every mutant that no test notices is listed below with the reason why it can't hurt.

\`\`\`sh
npm run mutate
\`\`\`

runs [Stryker](https://stryker-mutator.io/docs/stryker-js/introduction/), and then writes this page. It fails if a surviving mutant
has no reason in \`packages/proof/mutation/reasons.json\`, or if a reason no longer has a mutant. The run takes hours. It goes through eight
files at a time, so you can stop it and start it again: what hasn't changed since isn't tried again. To try a few files, run
\`node packages/proof/mutation/run.mjs core lease\`, which mutates the files of \`lib/core\` with "lease" in their names.

## What is mutated, and which tests count

- Every file of \`lib/core\` and \`lib/messaging\` that contains more than types, with all of Stryker's mutations.
- Messages for people are left alone and count as ignored: literals that contain a space and nothing but names between the words. Names,
  codes, states and patterns are mutated. Stryker itself makes no mutants of literals that are \`as const\`.
- Only the tests in \`test/core\` count for the core, and only those in \`test/messaging\` for messaging: in memory, in virtual time, with one seed for
  all properties. What the tests of a store, of the wrappers or of the model would find doesn't count. The long random searches are left
  out too, because a test of a single behaviour has to find what they find.

## The score

${scope(atLoad)}${found} of ${judged} mutants were found: ${((100 * found) / judged).toFixed(1)} %. The ${every.length} others:

| class | meaning | mutants |
|---|---|---:|
${classes.join("\n")}

| file | mutants | found | survive | ignored | score |
|---|---:|---:|---:|---:|---:|
${names.map((name) => row(name, files[name].mutants)).join("\n")}
${row("all", all)}

"Found" counts mutants that make a test fail (${count(all, "Killed")}), that keep a test from ending (${count(all, "Timeout")}), or that end the test
process with an unhandled error (${count(all, "RuntimeError")}).

## What survives, and why

${withReasons.join("\n\n")}
`;
}
