// `npm run compare`: does to onceonly and to Powertools idempotency what breaks such packages, on every local engine that
// can run here. The results go into docs/proof/comparison.md.
import { writeFileSync } from "node:fs";
import { availableDynamoDBEngines, startDynamoDB } from "../../../local/lib/dynamodb-engine.ts";
import { startProgress } from "../../progress.ts";
import { COMPARISON_STEPS, compare, observe } from "./compare.ts";
import { comparisonDocument } from "./report.ts";

process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";

const names = await availableDynamoDBEngines();
if (names.length === 0) await startDynamoDB();
const progress = startProgress(COMPARISON_STEPS * names.length);
const documents = new Map<string, string>();
try {
  for (const name of names) documents.set(name, await compareOn(name));
} finally {
  progress.end();
}
const [document, ...others] = documents.values();
if (document === undefined || others.some((other) => other !== document)) {
  throw new Error(`the engines ${names.join(" and ")} differ; what is seen must not depend on the engine`);
}
writeFileSync(new URL("../../../../docs/proof/comparison.md", import.meta.url), document);
console.log(`${document}\nwritten to docs/proof/comparison.md; seen on ${names.join(" and ")}`);
// Handlers that never ended have left Middy's alarms running.
process.exit();

async function compareOn(name: (typeof names)[number]): Promise<string> {
  const engine = await startDynamoDB({ engine: name });
  try {
    const comparison = await compare(engine.endpoint, async (scenario) => {
      progress.step(`${name}: ${scenario.name}`);
      return observe(scenario, engine.endpoint);
    });
    return comparisonDocument(comparison);
  } finally {
    await engine.stop();
  }
}
