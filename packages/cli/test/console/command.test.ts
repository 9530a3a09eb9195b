// `onceonly console` and the page of `onceonly start`, in processes of their own.
import { type ChildProcess, spawn } from "node:child_process";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { root } from "../../../../test/kit/project.ts";
import { run } from "../../../../test/kit/run.ts";
import { newWorld, type World } from "../world.ts";

let world: World;
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

beforeAll(async () => {
  world = await newWorld();
  await run(process.execPath, ["tools/build-console.mjs"], root);
});

function start(...args: string[]) {
  const child = spawn(process.execPath, ["--import", "tsx", "packages/cli/lib/onceonly.ts", ...args], {
    cwd: root,
  });
  children.push(child);
  let printed = "";
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const said = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(printed);
        if (found) resolve(found);
      };
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (chunk: string) => {
          printed += chunk;
          look();
        });
      }
      void ended.then(() => reject(new Error(printed)));
    });
  return { child, said, ended };
}

describe("onceonly console", () => {
  it("serves its page until Ctrl-C", async () => {
    const { child, said, ended } = start("console", "-t", world.tableName, "--endpoint", world.endpoint);
    const [, url = ""] = await said(/console page of records-\S+: (http:\S+)/);

    const page = await fetch(url);

    expect(await page.text()).toContain("<title>onceonly console</title>");
    child.kill("SIGINT");
    expect(await ended).toBe(0);
    await expect(fetch(url)).rejects.toThrow();
  });

  it.each([
    [["console"], "--table is required"],
    [["console", "a", "-t", "t"], "console accepts no arguments"],
    [["console", "--store", "./store.mjs"], "unknown option --store"],
    [["console", "-t", "t", "--port", "http"], "--port must be a whole number from 0 to 65535"],
  ])("refuses %j before any request", async (args, message) => {
    const { said, ended } = start(...args);

    await said(new RegExp(message));
    expect(await ended).toBe(2);
  });

  it("reports that the table doesn't exist, before it serves anything", async () => {
    const { said, ended } = start("console", "-t", "no-such-table", "--endpoint", world.endpoint);

    await said(/ResourceNotFound|could not be reached|not found/i);
    expect(await ended).toBe(1);
  });
});
