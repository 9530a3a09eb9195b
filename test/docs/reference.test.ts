// The tables of docs/reference/{options,errors,limits}.md are made from the code: npx vitest run test/docs/reference.test.ts -u
// Everything around them is written by hand.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { slugOf } from "../../docs/.vitepress/links.ts";
import * as clientErrors from "../../lib/client/errors.ts";
import * as coreErrors from "../../lib/core/errors.ts";
import { ENGINE_CHECKS } from "../../lib/core/options.ts";
import { BATCH_CHECKS } from "../../lib/lambda/batch/batch-options.ts";
import { HTTP_CHECKS } from "../../lib/lambda/http/checks.ts";
import { PROBLEM_STATUSES } from "../../lib/lambda/http/problem.ts";
import { PLAIN_CHECKS } from "../../lib/lambda/plain.ts";
import { expectGenerated } from "../kit/generated.ts";
import { root } from "../kit/project.ts";
import { constantIn } from "./constants.ts";
import { EXTERNAL_FACTS } from "./external-facts-given.ts";
import { OWN_LIMITS } from "./limits-given.ts";
import { classesOf, type DocumentedClass, inCell, type Member, membersOf, withLinks } from "./tsdoc.ts";

/** For tests of handlers: docs/guides/testing.md explains them. */
const INJECTED = ["clock", "random"];

/** Where each group of options is declared, by the name of its part in the page. */
const OPTIONS: Readonly<Record<string, readonly (readonly [file: string, name: string])[]>> = {
  engine: [["lib/core/options.ts", "EngineOptions"]],
  lambda: [["lib/lambda/options.ts", "WrapperOptions"]],
  plain: [["lib/lambda/options.ts", "IdempotencyOptions"]],
  http: [["lib/lambda/options.ts", "HttpIdempotencyOptions"]],
  batch: [["lib/lambda/batch/batch-options.ts", "BatchOptions"]],
  each: [["lib/lambda/batch/idempotent-each.ts", "EachOptions"]],
  "run-once": [["lib/core/run-once.ts", "RunOnceOptions"]],
  servers: [
    ["lib/http/options.ts", "ServerOptions"],
    ["lib/http/options.ts", "FetchServerOptions"],
  ],
  consumers: [["lib/consumers/options.ts", "ConsumerOptions"]],
  agents: [["lib/agents/options.ts", "OnceToolOptions"]],
};

const ERROR_FILES = {
  core: ["lib/core/errors.ts", "lib/core/handler-errors.ts", "lib/core/messages/errors.ts"],
  client: ["lib/client/errors.ts"],
};
const BASES: readonly string[] = ["IdempotentFetchError", "OnceonlyError"];

/** Statuses that depend on more than the code. */
const STATUSES: Readonly<Record<string, string>> = {
  ScopeMissingError: "401, 403",
  StoreUnavailableError: "503; 500 if `refused`",
  PermanentError: "its `statusCode`; without one it is rethrown",
  SagaCompensatedError: "its `statusCode`, 409 by default",
};

const read = (file: string) => readFileSync(join(root, file), "utf8");

describe("38.1: docs/reference/http.md", () => {
  const rows = [...read("docs/reference/http.md").matchAll(/^\| (\d{3}|its own) \| `([A-Z_]+)` \|/gm)];
  const shown = rows.map(([, status, code]) => `${code} ${status}`);

  it("has each status that a caller can get, and no other", () => {
    const usual = Object.entries(PROBLEM_STATUSES).map(([code, status]) => `${code} ${status}`);
    // They depend on more than the code.
    const special = ["SCOPE_MISSING 401", "STORE_UNAVAILABLE 500", "PERMANENT its own"];

    expect(shown.toSorted()).toEqual([...usual, ...special].toSorted());
  });
});

describe("38.1: docs/reference/options.md", () => {
  it("lists every option of the adapters, as its TSDoc and its type say", async () => {
    const parts = Object.entries(OPTIONS).map(([part, declared]) => {
      const members = declared.flatMap(([file, name]) => membersOf(file, name));
      return [part, tableOf(members.filter(({ name }) => !INJECTED.includes(name)))] as const;
    });

    await expectGenerated("docs/reference/options.md", Object.fromEntries(parts));
  });

  it("leaves out no option that an adapter checks", () => {
    const listed = ["engine", "lambda", "plain", "http", "batch"].flatMap((part) =>
      OPTIONS[part]!.flatMap(([file, name]) => membersOf(file, name).map((member) => member.name)),
    );
    const checked = Object.keys({ ...ENGINE_CHECKS, ...PLAIN_CHECKS, ...HTTP_CHECKS, ...BATCH_CHECKS });

    expect(checked.filter((name) => !listed.includes(name))).toEqual([]);
  });

  it("says of every option what it does", () => {
    const members = Object.values(OPTIONS)
      .flat()
      .flatMap(([file, name]) => membersOf(file, name))
      .filter(({ name }) => !INJECTED.includes(name));

    expect(members.filter(({ text }) => text === "").map(({ name }) => name)).toEqual([]);
  });
});

describe("38.1: docs/reference/errors.md", () => {
  it("lists every error, as its class and its TSDoc say", async () => {
    const core = errorsOf(ERROR_FILES.core, coreErrors);
    const client = errorsOf(ERROR_FILES.client, clientErrors);

    await expectGenerated("docs/reference/errors.md", {
      summary: summaryOf(core),
      errors: sectionsOf(core),
      "client-summary": summaryOf(client, "Client: "),
      "client-errors": sectionsOf(client, "Client: "),
    });
  });

  it("has an anchor for each type of problem", () => {
    const headings = [...read("docs/reference/errors.md").matchAll(/^#+ (.+)$/gm)].map(([, text = ""]) =>
      slugOf(text),
    );

    expect(headings).toEqual(
      expect.arrayContaining(Object.keys(PROBLEM_STATUSES).map((code) => code.toLowerCase())),
    );
  });
});

describe("38.1: docs/reference/limits.md", () => {
  it("lists limits as the constants of the code say, and where AWS documents its own", async () => {
    await expectGenerated("docs/reference/limits.md", { own: ownLimits(), external: externalLimits() });
  });
});

function tableOf(members: readonly Member[]): string {
  const rows = members.map(
    (member) =>
      `| \`${member.name}\`<br>${inCell(`\`${member.type}\``)} | ${inCell(defaultOf(member))} | ${inCell(withLinks(member.text, "reference"))} |`,
  );
  return ["| option | default | what it does |", "|---|---|---|", ...rows].join("\n");
}

function defaultOf({ isOptional, default: given }: Member): string {
  if (!isOptional) return "required";
  if (given === undefined) return "none";
  if (given.startsWith("- ")) return given.slice(2);
  const [, value = "", rest = ""] = /^("[^"]*"|\[.*?\]|\{.*?\}|[\w.]+)(.*)$/.exec(given) ?? [];
  return value === "none" ? given : `\`${value}\`${rest}`;
}

interface DocumentedError extends DocumentedClass {
  readonly code: string;
  readonly retryable: boolean;
  readonly status: string;
}

function errorsOf(files: readonly string[], module: Readonly<Record<string, unknown>>): DocumentedError[] {
  return files.flatMap(classesOf).flatMap((documented) => {
    const { name } = documented;
    if (BASES.includes(name)) return [];
    // What the constructor is given doesn't matter for what all errors of a class have in common.
    const error = Reflect.construct(module[name] as typeof Error, ["a", "b", "c"]);
    expect(error.name).toBe(name);
    const status = STATUSES[name] ?? (PROBLEM_STATUSES as Record<string, number>)[error.code] ?? "–";
    return [{ ...documented, code: error.code, retryable: error.retryable, status: `${status}` }];
  });
}

/** GitHub makes the anchor of it that the `type` of a problem names. */
const headingOf = ({ name, code }: DocumentedError, prefix: string) =>
  `${prefix}\`${name === "SagaCompensatedError" ? name : code}\``;

function summaryOf(errors: readonly DocumentedError[], prefix = ""): string {
  const rows = errors.map((error) => {
    const link = `[\`${error.code}\`](#${slugOf(headingOf(error, prefix))})`;
    return `| ${link} | \`${error.name}\` | ${error.retryable ? "yes" : "no"} | ${error.status} |`;
  });
  return ["| code | class | retryable | HTTP |", "|---|---|---|---|", ...rows].join("\n");
}

function sectionsOf(errors: readonly DocumentedError[], prefix = ""): string {
  return errors
    .map((error) => {
      const fields = error.fields.map(
        ({ name, text }) => `- \`${name}\`: ${withLinks(text, "reference").replaceAll("\n\n", " ")}`,
      );
      const text = withLinks(error.text, "reference");
      return [`### ${headingOf(error, prefix)}`, text, fields.join("\n")].filter(Boolean).join("\n\n");
    })
    .join("\n\n");
}

function ownLimits(): string {
  const rows = OWN_LIMITS.map(({ what, file, constant, unit }) => {
    const value = constantIn(read(file), constant);
    return `| ${what} | ${inUnit(value, unit)} |`;
  });
  return ["| what | limit |", "|---|---|", ...rows].join("\n");
}

function externalLimits(): string {
  const rows = EXTERNAL_FACTS.filter(
    ({ constant, read: day }) => constant !== undefined && /^2/.test(day),
  ).map(
    ({ fact, source, read: day }) =>
      `| ${fact.replace(/^[a-z](?=[a-z]* )/, (first) => first.toUpperCase())} | [AWS](${source}), ${day} |`,
  );
  return ["| limit | source, when it was read |", "|---|---|", ...rows].join("\n");
}

const UNITS = {
  bytes: [
    [1024 * 1024, "MiB"],
    [1024, "KB"],
  ],
  seconds: [
    [86_400, "days"],
    [3600, "hours"],
    [60, "minutes"],
  ],
} as const;

function inUnit(value: number, unit: string): string {
  const larger = Object.hasOwn(UNITS, unit)
    ? UNITS[unit as keyof typeof UNITS].find(([size]) => value >= size && value % size === 0)
    : undefined;
  const count = value.toLocaleString("en");
  if (larger === undefined) return `${count} ${unit}`;
  const larges = value / larger[0];
  return `${larges.toLocaleString("en")} ${larges === 1 ? larger[1].replace(/s$/, "") : larger[1]} (${count} ${unit})`;
}
