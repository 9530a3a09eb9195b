/** `onceonly conform`: plays races, lost responses and wrong keys against any HTTP server, and reports what it did. */
import {
  type CliCommand,
  type CommandCall,
  counted,
  didYouMean,
  listOf,
  type OptionValues,
  onlyArgument,
  printLines,
  type Terminal,
  type Tone,
  UsageError,
  wholeNumber,
} from "./command.ts";
import { CHECKS, checkVisible, type Finding, VERDICTS, type Verdict } from "./conform/checks.ts";
import { Lab, type LabOptions } from "./conform/lab.ts";
import { CONVENTIONS, jsonObject } from "./conform/profiles.ts";
import type { Header } from "./conform/send.ts";

const DEFAULT_CONCURRENCY = "10";
const YEAR = 31_536_000;

export const conform: CliCommand = {
  usage: `usage: onceonly conform <url> [options]

Sends real requests to a server in any language, with new idempotency keys, and checks that each key has one effect: races,
responses that get lost, other bodies, other callers, and wrong keys. Use a test system: each check has real effects. Whatever
isn't right is printed with curl lines that repeat it; headers that you pass are variables in them. The exit status is 1 if
anything is broken or differs from the profile.

  --profile <name>            ietf-07 (default), stripe or acp: statuses and form of keys
  --method <name>             default POST
  --body <text>               a valid request, which may be sent again and again under new keys (default {})
  --other-body <text>         another one (default: --body with one more member, if it's a JSON object)
  --header, -H <name: value>  sent with each request, may be repeated (default content-type: application/json)
  --as <name: value>          credentials of another caller, may be repeated: replace the header of that name
  --key-header <name>         default idempotency-key
  --effects <url>             a GET that answers how many effects there were so far, as a number
  --id-path <a.b>             where a response has the id of its effect (default: the whole response is compared)
  --expires-after <seconds>   also waits this long, and checks that a key is new again
  --concurrency <number>      requests in a race (default ${DEFAULT_CONCURRENCY}, up to 100)
  --yes-this-is-mine <host>   the URL's host, if it isn't this machine
  --json                      print JSON`,
  options: {
    profile: { type: "string", default: "ietf-07" },
    method: { type: "string", default: "POST" },
    body: { type: "string", default: "{}" },
    "other-body": { type: "string" },
    header: { type: "string", short: "H", multiple: true, default: [] },
    as: { type: "string", multiple: true, default: [] },
    "key-header": { type: "string", default: "idempotency-key" },
    effects: { type: "string" },
    "id-path": { type: "string" },
    "expires-after": { type: "string" },
    concurrency: { type: "string", default: DEFAULT_CONCURRENCY },
    "yes-this-is-mine": { type: "string" },
    json: { type: "boolean" },
  },
  async run({ values, positionals, terminal }) {
    const options = labOptions({ values, positionals, terminal });
    const { json } = values;
    const findings = await runChecks(options, terminal);
    const counts = Object.fromEntries(
      VERDICTS.map((verdict) => [verdict, findings.filter((each) => each.verdict === verdict).length]),
    ) as Record<Verdict, number>;
    if (json) {
      const report = { url: `${options.url.origin}${options.url.pathname}`, profile: values.profile };
      printLines(
        terminal,
        JSON.stringify({ ...report, effectsBy: effectsBy(options), counts, findings }, undefined, 2),
      );
    } else print(terminal, findings, counts, options);
    return counts.broken + counts.differs > 0 ? 1 : 0;
  },
};

type NamedFinding = Finding & { readonly check: string };

async function runChecks(options: LabOptions, terminal: Terminal): Promise<readonly NamedFinding[]> {
  await checkVisible(new Lab(options));
  const checks = Object.entries(CHECKS);
  const findings: NamedFinding[] = [];
  for (const [check, play] of checks) {
    terminal.progress?.(findings.length, checks.length);
    findings.push({ check, ...(await play(new Lab(options))) });
  }
  return findings;
}

const TONES: Readonly<Record<Verdict, Tone>> = {
  held: "good",
  differs: "bad",
  broken: "bad",
  skipped: "faint",
};

function print(
  terminal: Terminal,
  findings: readonly NamedFinding[],
  counts: Readonly<Record<Verdict, number>>,
  options: LabOptions,
): void {
  const width = Math.max(...findings.map(({ check }) => check.length));
  for (const { check, verdict, says, repeat } of findings) {
    terminal.print(`${verdict.padEnd(7)}  ${check.padEnd(width)}  ${says}`, TONES[verdict]);
    for (const line of repeat) terminal.print(`    ${line}`, "faint");
  }
  const summary = VERDICTS.map((verdict) => `${counts[verdict]} ${verdict}`).join(", ");
  terminal.print(
    `${counted(findings.length, "check")}: ${summary} (effects counted by ${effectsBy(options)})`,
  );
}

const effectsBy = ({ effects, idPath }: LabOptions): string =>
  effects ? "--effects" : idPath ? "the ids in responses" : "different responses";

/** @throws UsageError */
function labOptions({ values, positionals, terminal }: CommandCall): LabOptions {
  // All are read before the first can be refused.
  const { method, body, "other-body": otherBody, "id-path": idPath, effects } = values;
  const [headers, others] = [headersOf(values, "header"), headersOf(values, "as")];
  const [keyHeader] = headersOf({ key: [`${values["key-header"]}: -`] }, "key")[0]!;
  const expiresAfter = values["expires-after"];
  const convention = Object.hasOwn(CONVENTIONS, `${values.profile}`)
    ? CONVENTIONS[`${values.profile}`]
    : undefined;
  const mine = values["yes-this-is-mine"];
  if (!convention) {
    const known = Object.keys(CONVENTIONS);
    throw new UsageError(
      `no such profile \`${values.profile}\`${didYouMean(`${values.profile}`, known)}: use ${known.join(", ")}`,
    );
  }
  const isTyped = headers.some(([name]) => name === "content-type");
  return {
    url: ownAddress(onlyArgument(positionals, "URL"), "the URL", mine),
    method: `${method}`.toUpperCase(),
    headers: isTyped ? headers : [["content-type", "application/json"], ...headers],
    otherCaller: others.length === 0 ? undefined : others,
    ...{ keyHeader, convention, body: `${body}` },
    otherBody: otherBody === undefined ? otherBodyFor(`${body}`) : `${otherBody}`,
    effects: effects === undefined ? undefined : ownAddress(`${effects}`, "--effects", mine),
    idPath: idPath === undefined ? undefined : `${idPath}`.split("."),
    concurrency: wholeNumber(values, "concurrency", 2, 100),
    expiresAfterSeconds:
      expiresAfter === undefined ? undefined : wholeNumber(values, "expires-after", 1, YEAR),
    clock: terminal.clock,
  };
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** The checks have real effects, so a host that isn't this machine must be named twice. @throws UsageError */
function ownAddress(text: string, what: string, mine: OptionValues[string]): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new UsageError(`${what} must be an http or https URL`);
  if (url.username !== "" || url.password !== "")
    throw new UsageError(`${what} has credentials: pass them as --header "authorization: …"`);
  if (LOOPBACK.test(url.hostname) || url.hostname === mine) return url;
  throw new UsageError(
    `${what} isn't on this machine, and conform has real effects there: if it's your test system, pass --yes-this-is-mine ${url.hostname}`,
  );
}

/** @throws UsageError, which doesn't repeat the value: it may be a secret */
function headersOf(values: OptionValues, option: string): readonly Header[] {
  return listOf(values[option]).map((line): Header => {
    const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):[\t ]*([\t -~]*)$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) return [name.toLowerCase(), value];
    throw new UsageError(
      `--${option === "key" ? "key-header" : option} must be a header, such as "name: value"`,
    );
  });
}

/** @throws UsageError */
function otherBodyFor(body: string): string {
  const object = jsonObject(body);
  if (/^\s*\{/.test(body) && Object.getPrototypeOf(object) === Object.prototype)
    return JSON.stringify({ ...object, conform: "another body" });
  throw new UsageError("--body isn't a JSON object, so --other-body is required");
}
