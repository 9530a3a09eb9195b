// `npm run foreign`: explores handlers in the shapes of public samples, and writes docs/proof/foreign-handlers.md.
// `npm run foreign -- webhook-github.cjs`: explores one, prints its report, and writes nothing.
import { writeFileSync } from "node:fs";
import { exploreForeign } from "./explore-foreign.ts";
import { HANDLERS } from "./handlers.ts";
import { foreignPage, PAGE } from "./page.ts";

async function exploreOne(name: string): Promise<readonly string[]> {
  const handler = HANDLERS.find(({ file }) => file === name);
  if (!handler) return [`no handler has the name ${name}`];
  const { report, fixed, wrong } = await exploreForeign(handler);
  console.log(`${report}`);
  if (fixed) console.log(`\n${fixed}`);
  return wrong;
}

async function exploreAll(): Promise<readonly string[]> {
  const { page, wrong } = await foreignPage((name) => console.log(`exploring ${name}`));
  if (wrong.length > 0) return wrong;
  writeFileSync(PAGE, page);
  console.log("written to docs/proof/foreign-handlers.md");
  return [];
}

const [name] = process.argv.slice(2);
const wrong = await (name ? exploreOne(name) : exploreAll());
for (const text of wrong) console.error(`\n${text}`);
process.exitCode = wrong.length > 0 ? 1 : 0;
