// The sizes of the present code: what docs/proof/benchmarks.md must say.
import type { SizeFigures } from "../report/size-section.ts";
import { weigh } from "./entries.ts";
import { bundleFunction, FUNCTIONS } from "./functions.ts";

export async function measureSizes(): Promise<SizeFigures> {
  const functions: Record<string, number> = {};
  for (const [name, each] of Object.entries(FUNCTIONS)) {
    functions[name] = (await bundleFunction(each, true)).byteLength;
  }
  return { imports: await weigh(), functions };
}
