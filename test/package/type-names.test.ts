// One word per idea: a type's name stands for one thing in all of lib.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../../kit/project.ts";

const DECLARATION =
  /^\s*(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class) ([A-Z]\w*)\b(?= ?[<{=]| extends | implements |$)/gm;

/** Names that two folders declare for one idea, because neither may import the other. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  DynamoDBOutbox: "one outbox behind two entries: with the client of the SDK, and with the lean one",
  DynamoDBStore: "one store behind two entries: with the client of the SDK, and with the lean one",
  InvalidOptionError: "browsers load the client, and no byte of core with it",
  Item: "an item of a DynamoDB table: as its API spells it, and as plain values in the memory store",
};

it("no type name is declared in two folders of lib, unless the exceptions give the reason", () => {
  const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "lib"], {
    cwd: root,
    encoding: "utf8",
  })
    .trim()
    .split("\n");
  // A folder is what has an import rule of its own.
  const folders = files.filter((file) => file.endsWith("/biome.json")).map((file) => dirname(file));
  const folderOf = (file: string) =>
    folders
      .filter((folder) => file.startsWith(`${folder}/`))
      .reduce((longest, folder) => (folder.length > longest.length ? folder : longest));

  const places = new Map<string, Map<string, string>>();
  for (const file of files.filter((name) => name.endsWith(".ts"))) {
    for (const [, name = ""] of readFileSync(join(root, file), "utf8").matchAll(DECLARATION)) {
      places.set(name, (places.get(name) ?? new Map<string, string>()).set(folderOf(file), file));
    }
  }
  const twice = [...places].filter(([, inFolders]) => inFolders.size > 1);
  const unexplained = twice
    .filter(([name]) => !(name in EXCEPTIONS))
    .map(([name, inFolders]) => `${name}: ${[...inFolders.values()].join(", ")}`);

  expect(unexplained.sort()).toEqual([]);
  expect(Object.keys(EXCEPTIONS).filter((name) => !twice.some(([other]) => other === name))).toEqual([]);
});
