// Takes Stryker's reports into results.jsonl, and writes docs/proof/mutation.md from it and from reasons.json. A file is taken if each
// of its surviving mutants has a reason; fails otherwise, once the others are written. Results of a file whose code has changed since
// don't count, and the page lists it as not run.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
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

/** A line for each file: its name and its result. */
const RESULTS = "packages/proof/mutation/results.jsonl";

const hashOf = (source) => createHash("sha256").update(source).digest("hex").slice(0, 16);
const present = FOLDERS.flatMap((folder) =>
  readdirSync(root(`lib/${folder}`), { recursive: true, encoding: "utf8" })
    .map((name) => `lib/${folder}/${name}`)
    .filter((name) => name.endsWith(".ts") && !isOnlyTypes(name)),
).sort();
const reasons = JSON.parse(read("packages/proof/mutation/reasons.json"));
const faults = misclassified();

const reported = Object.entries(Object.assign({}, ...FOLDERS.map(reportOf)))
  .filter(([name, { source }]) => present.includes(name) && source === read(name))
  .map(([name, file]) => [name, resultOf(file)]);
const results = Object.fromEntries(
  Object.entries(Object.fromEntries([...keptResults(), ...reported]))
    .filter(([name, { source }]) => present.includes(name) && source === hashOf(read(name)))
    .sort(([left], [right]) => (left < right ? -1 : 1)),
);
const used = new Set();
const explained = Object.fromEntries(Object.keys(results).map((name) => [name, explain(name)]));
for (const [name, survivors] of Object.entries(explained)) {
  for (const { line, from, to, why } of survivors)
    if (!why) faults.push(`no reason: ${name}:${line} ${JSON.stringify({ from, to })}`);
  if (survivors.some(({ why }) => !why)) delete results[name];
}
const names = Object.keys(results);
const notRun = present.filter((name) => !names.includes(name));
for (const [name, entries] of Object.entries(reasons)) {
  if (notRun.includes(name)) continue;
  for (const entry of entries)
    if (!used.has(entry)) faults.push(`no such survivor: ${name} ${JSON.stringify(entry)}`);
}

const lines = Object.entries(results).map((entry) => `${JSON.stringify(entry)}\n`);
writeFileSync(root(RESULTS), lines.join(""));
writeFileSync(root("docs/proof/mutation.md"), page());
console.log(
  `docs/proof/mutation.md: ${names.length} of ${present.length} files, ${names.flatMap((name) => explained[name]).length} surviving mutants, each with its reason`,
);
if (faults.length > 0) {
  console.error(faults.join("\n"));
  console.error(`${faults.length} faults: files with unexplained survivors are left out of the page`);
  process.exit(1);
}

function keptResults() {
  return read(RESULTS)
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

function reportOf(folder) {
  const path = `reports/mutation-${folder}.json`;
  return existsSync(root(path)) ? JSON.parse(read(path)).files : {};
}

/** What is kept of a file's report. */
function resultOf({ source, mutants }) {
  const atLoad = mutants.filter(({ statusReason }) => statusReason?.startsWith("Static mutant")).length;
  const counts = Object.fromEntries([...FOUND, "Ignored"].map((status) => [status, count(mutants, status)]));
  return { source: hashOf(source), ...counts, atLoad, survivors: survivorsOf(source, mutants) };
}

function isOnlyTypes(name) {
  return !/^(export )?(async )?(abstract )?(const|let|function|class) /m.test(read(name));
}

function misclassified() {
  const entries = Object.values(reasons).flat();
  return entries
    .filter((entry) => !(entry.class in CLASSES) || !entry.why)
    .map((entry) => `class and why are needed: ${JSON.stringify(entry)}`);
}

function survivorsOf(source, mutants) {
  const lines = source.split("\n");
  return mutants
    .filter(({ status }) => status === "Survived" || status === "NoCoverage")
    .sort((left, right) => order(left.location) - order(right.location))
    .map(({ location: { start, end }, replacement }) => {
      const taken = lines.slice(start.line - 1, end.line);
      taken[taken.length - 1] = taken.at(-1).slice(0, end.column - 1);
      taken[0] = taken[0].slice(start.column - 1);
      return { line: start.line, from: oneLine(taken.join("\n")), to: oneLine(replacement) };
    });
}

/** The survivors of a file, each with its class and its reason if it has any. */
function explain(name) {
  const lines = read(name).split("\n");
  return results[name].survivors.map((survivor) => {
    const { line, from, to } = survivor;
    const entry = (reasons[name] ?? []).find(
      (each) =>
        each.from === from && [each.to].flat().includes(to) && lines[line - 1].includes(each.in ?? ""),
    );
    used.add(entry);
    return { ...entry, ...survivor };
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

function row(name, all) {
  const found = sum(all, ...FOUND);
  const left = all.flatMap(({ survivors }) => survivors).length;
  const score = found + left === 0 ? "–" : `${((100 * found) / (found + left)).toFixed(1)} %`;
  return `| ${name} | ${found + left} | ${found} | ${left} | ${sum(all, "Ignored")} | ${score} |`;
}

function sum(all, ...fields) {
  return all.reduce((total, result) => fields.reduce((part, field) => part + result[field], total), 0);
}

function code(text) {
  const short = text.length > 140 ? `${text.slice(0, 139)}…` : text;
  return short.includes("`") ? `\`\` ${short} \`\`` : `\`${short}\``;
}

function page() {
  const all = names.map((name) => results[name]);
  const every = names.flatMap((name) => explained[name]);
  const atLoad = sum(all, "atLoad");
  const found = sum(all, ...FOUND);
  const judged = found + every.length;
  const withReasons = names
    .filter((name) => explained[name].length > 0)
    .map((name) => {
      const items = explained[name].map(
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
has no reason in \`packages/proof/mutation/reasons.json\`, or if a reason no longer has a mutant. The run takes hours. To try a few files,
run \`node packages/proof/mutation/run.mjs core lease\`, which mutates the files of \`lib/core\` with "lease" in their names, and then
\`node packages/proof/mutation/report.mjs\`. Results of files that haven't changed since are kept in \`packages/proof/mutation/results.jsonl\`.

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
${names.map((name) => row(name, [results[name]])).join("\n")}
${row("all", all)}

"Found" counts mutants that make a test fail (${sum(all, "Killed")}), that keep a test from ending (${sum(all, "Timeout")}), or that end the test
process with an unhandled error (${sum(all, "RuntimeError")}).

## What survives, and why

${withReasons.join("\n\n")}
`;
}
