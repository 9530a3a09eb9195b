// The bundles to be measured: a function's imports from each package, without the AWS SDK and Middy.
import { type Bundle, bundle } from "./bundle.ts";

const own = (name: string) =>
  `export { DynamoDBStore } from "onceonly/dynamodb";\nexport { ${name} } from "onceonly";`;

const PEER = [
  'export { IdempotencyConfig } from "@aws-lambda-powertools/idempotency";',
  'export { DynamoDBPersistenceLayer } from "@aws-lambda-powertools/idempotency/dynamodb";',
].join("\n");

const PEER_CODE = "node_modules/@aws-lambda-powertools/";

export const OWN_MIDDLEWARE = "onceonly: `httpIdempotency`, for Middy";
export const PEER_MIDDLEWARE = "Powertools: `makeHandlerIdempotent`, for Middy";

/** The entries by purpose, on both sides. */
const ENTRIES: Readonly<Record<string, string>> = {
  "onceonly: `idempotent`": own("idempotent"),
  "onceonly: `httpIdempotent`": own("httpIdempotent"),
  [OWN_MIDDLEWARE]: own("httpIdempotency"),
  "onceonly: `idempotentBatch`": own("idempotentBatch"),
  "Powertools: `makeIdempotent`": `${PEER}\nexport { makeIdempotent } from "@aws-lambda-powertools/idempotency";`,
  [PEER_MIDDLEWARE]: `${PEER}\nexport { makeHandlerIdempotent } from "@aws-lambda-powertools/idempotency/middleware";`,
};

export type Weight = Omit<Bundle, "code">;

export async function weigh(
  names: readonly string[] = Object.keys(ENTRIES),
): Promise<Readonly<Record<string, Weight>>> {
  const weights: Record<string, Weight> = {};
  for (const name of names) {
    const isOwn = (path: string) => path.startsWith(name.startsWith("onceonly") ? "lib/" : PEER_CODE);
    const { code: _, ...weight } = await bundle(ENTRIES[name] as string, isOwn);
    weights[name] = weight;
  }
  return weights;
}
