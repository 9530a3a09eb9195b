// Modules that export what each function of an entry returns, and each type. A project that compiles them with declarations has to
// name every type in them, as a user's project has to.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { SOURCES } from "../../tools/entries.mjs";
import { root } from "../kit/project.ts";
import { exportedNames } from "./names-given.ts";

export const ENTRIES = [
  "onceonly",
  "onceonly/agents",
  "onceonly/cdk",
  "onceonly/client",
  "onceonly/consumers",
  "onceonly/durable",
  "onceonly/dynamodb",
  "onceonly/http",
  "onceonly/lean",
  "onceonly/messaging",
  "onceonly/otel",
  "onceonly/postgres",
  "onceonly/reconciler",
  "onceonly/store-kit",
  "onceonly/stores",
  "onceonly/testing",
  "onceonly/valkey",
];

/** Their members are shapes of AWS or of Express, which our entries don't export. */
const SHAPES = [
  "DynamoDBErrorDetails",
  "DynamoDBOperations",
  "EventBridgeOperations",
  "ExpressRequest",
  "ModelRequestHandler",
  "SnsNotification",
  "SnsOperations",
  "SqsOperations",
  "StaleRead",
];

/** A symbol that brands errors stays private. */
const HEAD = `
declare function open<Type>(value: Type): { [Name in keyof Type & string]: Type[Name] };
declare function answerOf<Answer>(called: (...given: never) => Answer): Answer;
`;

/** @param declarations the text of all installed declarations */
export function probeOf(entry: string, declarations: string): string {
  const file = join(root, new Map(SOURCES).get(entry)!);
  const constants = exportedNames(file)
    .filter((name) => !SHAPES.includes(name))
    .map((name) => {
      const [, kind, generic] = declarationOf(name).exec(declarations) ?? [];
      if (kind === undefined) throw new Error(`${entry} exports ${name}, which no declaration declares`);
      if (kind === "function") return `export const ${name} = answerOf(entry.${name});`;
      if (kind === "const") return `export const ${name} = entry.${name};`;
      // The types that functions answer stand for those with parameters.
      return generic ? "" : `export const ${name} = open(null as never as entry.${name});`;
    });
  return [`import * as entry from "${entry}";`, HEAD, ...constants].join("\n");
}

/** @param dist the folder of the installed package */
export async function readDeclarations(dist: string): Promise<string> {
  const files = await readdir(dist, { recursive: true });
  const texts = files
    .filter((file) => file.endsWith(".d.ts"))
    .map((file) => readFile(join(dist, file), "utf8"));
  return (await Promise.all(texts)).join("\n");
}

const declarationOf = (name: string) =>
  new RegExp(
    `^(?:export )?(?:declare )?(?:abstract )?(interface|type|class|function|const) ${name}\\b(<)?`,
    "m",
  );
