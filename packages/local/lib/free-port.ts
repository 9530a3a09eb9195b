// A free loopback port, for servers that can't choose one themselves. It is drawn at random
// from below the range that operating systems hand out, so no other process is given it in the meantime.
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

const LOWEST = 20_000;
const HIGHEST = 32_000;

export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 50; tries++) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await canListen(port)) return port;
  }
  throw new Error(
    `found no free port between ${LOWEST} and ${HIGHEST} in 50 tries: stop a process that listens there`,
  );
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}
