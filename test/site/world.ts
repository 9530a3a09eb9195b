// Builds the site once for the tests of a run, and serves it on loopback with the addresses of GitHub Pages.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { oncePerRun } from "../kit/once-per-run.ts";
import { root } from "../kit/project.ts";
import { run } from "../kit/run.ts";
import { fileAt, SITE } from "./given.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};

export async function serveSite(): Promise<{ readonly origin: string; stop(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const file = fileAt(new URL(request.url ?? "/", "http://site").pathname);
    if (file === undefined) return response.writeHead(404).end("not found");
    const type = TYPES[extname(file)] ?? "text/plain; charset=utf-8";
    return response.writeHead(200, { "content-type": type }).end(await readFile(join(SITE, file)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** With ONCEONLY_SITE=built the site that is there is tested as it is. */
export async function buildSite(): Promise<void> {
  if (process.env.ONCEONLY_SITE === "built" && existsSync(SITE)) return;
  await oncePerRun("site", async () => {
    await run("npm", ["run", "site"], root);
    return true;
  });
}
