/** The console page: one file that the build makes, and two values of each request in it. */
import { readFile } from "node:fs/promises";

/** From this folder, from the bundle of the command line, and from what bundles share. */
const FILE = new URL("./console.html", import.meta.url);

/** @throws Error if the sources run and the page isn't built */
export async function consolePage(values: {
  readonly nonce: string;
  readonly token: string;
}): Promise<string> {
  const html = await readFile(FILE, "utf8").catch((cause: unknown) => {
    throw new Error("the console page isn't built: run node tools/build-console.mjs", { cause });
  });
  return html.replaceAll("{{nonce}}", values.nonce).replaceAll("{{token}}", values.token);
}
