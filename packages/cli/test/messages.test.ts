// What the command line says of a misspelt name, a missing file and a port that is in use.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aligned } from "../lib/aligned.ts";
import { COMMANDS, commandOf } from "../lib/commands.ts";
import { listen, stop } from "../lib/console/listen.ts";
import { whyNotLoaded } from "../lib/default-export.ts";
import { hasColours, progressLine } from "../lib/tty.ts";
import { runAlone } from "./world.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "onceonly-messages-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("a misspelt name", () => {
  it.each([
    ["resovle", "unknown command `resovle`: did you mean `resolve`?"],
    ["fnd", "unknown command `fnd`: did you mean `find`?"],
    ["Doctor", "unknown command `Doctor`: did you mean `doctor`?"],
    ["versoin", "unknown command `versoin`: did you mean `version`?"],
  ])("37.2: of a command names the one that was meant: %s", (name, message) => {
    expect(() => commandOf(name, "usage: …")).toThrow(new RegExp(`^${message.replaceAll("?", "\\?")}$`));
  });

  it("37.2: of a command like no other shows them all", () => {
    expect(() => commandOf("deploy-now", "usage: …")).toThrow(/^unknown command `deploy-now`\n\nusage: …$/);
    expect(() => commandOf("constructor", "usage: …")).toThrow("unknown command `constructor`");
    expect(commandOf("find", "")).toBe(COMMANDS.find);
  });

  it.each([
    ["find", ["k", "--opration", "pay"], "unknown option --opration: did you mean --operation?"],
    ["find", ["k", "--tabel=records"], "unknown option --tabel: did you mean --table?"],
    ["release", ["k", "--dry"], "unknown option --dry: did you mean --dry-run?"],
    ["find", ["k", "--hlep"], "unknown option --hlep: did you mean --help?"],
    ["list", ["unknwon"], "no such list `unknwon` (did you mean `unknown`?): use unknown, waiting, parked"],
    ["list", ["complete"], "no such list `complete` (did you mean `completed`?)"],
    [
      "outbox",
      ["retyr", "r"],
      "expected list, retry, drop, redirect or edit, got `retyr` (did you mean `retry`?)",
    ],
  ])("37.2: of an option or a list names the one that was meant: %s %j", async (name, args, message) => {
    await expect(runAlone(name, args)).rejects.toThrow(message);
    await expect(runAlone(name, args)).rejects.not.toThrow("usage:");
  });

  it.each([
    ["find", ["k", "--payment"], /^unknown option --payment\n\nusage: onceonly find/],
    ["find", ["k", "-x"], /^unknown option -x\n\nusage: onceonly find/],
    ["find", ["k", "--table"], /^--table needs a value/],
    ["find", ["k", "--table", "--json"], /^--table needs a value \(write --table=-x if/],
    ["release", ["k", "--yes=no"], /^--yes doesn't accept a value$/],
  ])(
    "37.2: of an option like no other shows the usage, and a wrong value is named: %s %j",
    async (name, args, says) => {
      await expect(runAlone(name, args)).rejects.toThrow(says);
    },
  );
});

describe("a missing file", () => {
  it.each([
    ["openapi", ["none.mjs"], "can't read the options module none.mjs: no such file"],
    ["explore", ["none.mjs"], "can't read the module with the reports none.mjs: no such file"],
    ["explore", ["packages"], "can't read the module with the reports packages: it's a folder"],
    [
      "replay",
      ["k", "-o", "a", "--handler", "none.mjs"],
      "can't read the handler module none.mjs: no such file",
    ],
    ["doctor", ["--template", "none.json"], "can't read the template none.json: no such file"],
    ["find", ["k", "-o", "a", "--store", "none.mjs"], "can't read the store module none.mjs: no such file"],
    [
      "erase",
      ["--keys-from", "none.txt", "-o", "a", "--by", "ana", "--why", "test"],
      "can't read the keys file none.txt: no such file",
    ],
  ])("41.10: is named for what it is: %s %j", async (name, args, message) => {
    await expect(runAlone(name, args)).rejects.toThrow(message);
  });

  it("41.10: of TypeScript that Node.js doesn't run says how to run it", () => {
    const unknown = Object.assign(new TypeError('Unknown file extension ".ts" for /app/ex.ts'), {
      code: "ERR_UNKNOWN_FILE_EXTENSION",
    });
    const unsupported = Object.assign(new SyntaxError("enum"), { code: "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX" });

    expect(whyNotLoaded(unknown)).toMatch(
      /doesn't run TypeScript: use Node.js 22.18 or later, or install tsx and set/,
    );
    expect(whyNotLoaded(unsupported)).toMatch(
      /such as an enum: install tsx and set NODE_OPTIONS="--import tsx"$/,
    );
    expect(whyNotLoaded(new Error("it is broken"))).toBe("it is broken");
    expect(whyNotLoaded(undefined)).toBeUndefined();
  });
});

it.each(["--port", "--console-port"])(
  "41.10: start looks at %s before it synthesizes the app",
  async (option) => {
    const server = createServer();
    const port = await listen(server, 0);
    await writeFile(join(folder, "cdk.json"), JSON.stringify({ app: "node never-run.js" }));

    const started = runAlone(
      "start",
      [folder, "--port=0", "--console-port=0"].map((each) =>
        each.startsWith(option) ? `${option}=${port}` : each,
      ),
    );

    await expect(started).rejects.toThrow(`port ${port} is already in use`);
    await stop(server);
  },
);

it("41.10: columns line up", () => {
  expect(
    aligned([
      ["table Orders", "orders-1"],
      ["DynamoDB", "http://127.0.0.1:1"],
    ]),
  ).toEqual(["table Orders  orders-1", "DynamoDB      http://127.0.0.1:1"]);
  expect(aligned([])).toEqual([]);
});

describe("41.10: a terminal", () => {
  it.each([
    [{ isTTY: true }, {}, true],
    [{ isTTY: true }, { NO_COLOR: "1" }, false],
    [{ isTTY: true }, { NO_COLOR: "" }, true],
    [{ isTTY: true }, { TERM: "dumb" }, false],
    [{}, {}, false],
  ])("%j with %j has colours: %s", (stream, env, expected) => {
    expect(hasColours(stream, env)).toBe(expected);
  });

  it("draws one progress line, and clears it before anything is printed", () => {
    const written: string[] = [];
    const line = progressLine((text) => written.push(text));

    line.clear();
    line.draw(400);
    line.draw(1, 2);
    line.clear();
    line.clear();

    expect(written).toEqual(["\r400 read …", `\r${"█".repeat(15)}${"░".repeat(15)} 1 of 2`, "\r\u001b[K"]);
  });
});
