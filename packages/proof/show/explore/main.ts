// Writes docs/proof/explored.md.
import { writeFileSync } from "node:fs";
import { exploredPage } from "./page.ts";

const PAGE = new URL("../../../../docs/proof/explored.md", import.meta.url);

const text = await exploredPage((name) => console.log(`exploring ${name}`));
writeFileSync(PAGE, text);
console.log("written to docs/proof/explored.md");
