// A server of the samples or the examples in a process of its own, on a free port.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { guardProcess } from "../../packages/local/lib/process-guard.ts";
import { root } from "./project.ts";

export interface ServerProcess {
  readonly url: string;
  readonly child: ChildProcess;
}

/** @param file from the project's root; it prints `listening on <port>` */
export async function startServer(
  file: string,
  environment: Readonly<Record<string, string>>,
): Promise<ServerProcess> {
  const child = spawn(process.execPath, ["--import", "tsx", file], {
    cwd: root,
    env: { ...process.env, PORT: "0", ...environment },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  guardProcess(child);
  const [said] = await once(child.stdout, "data");
  return { url: `http://127.0.0.1:${/listening on (\d+)/.exec(`${said}`)?.[1]}`, child };
}
