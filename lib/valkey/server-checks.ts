/** Reads a server's description of itself, and whether it keeps records. */
import { InvalidOptionError } from "../core/errors.ts";
import type { Acknowledgement, ValkeyRisk } from "./options.ts";

/**
 * Refuses a server that may lose records, unless the risk is accepted by name.
 * @param info the answer to INFO
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function checkServer(
  info: string,
  acceptedRisks: readonly ValkeyRisk[],
  acknowledgedBy: Acknowledgement | undefined,
): void {
  const settings = new Map(
    info.split(/\r?\n/).map((line) => {
      const [name = "", value = ""] = line.split(/:(.*)/s);
      return [name, value] as const;
    }),
  );
  const version = settings.get("redis_version");
  checkVersion(version, [6, 2], "client");
  if (acknowledgedBy?.onDisk) checkVersion(version, [7, 2], "acknowledgedBy");
  const policy = settings.get("maxmemory_policy");
  const file = settings.get("aof_enabled");
  const refuse = (risk: ValkeyRisk, why: string) => {
    if (acceptedRisks.includes(risk)) return;
    throw new InvalidOptionError("acceptedRisks", `must include "${risk}" for this server: ${why}`);
  };
  if (policy === undefined || file === undefined) {
    refuse(
      "unreported",
      "INFO doesn't report `maxmemory_policy` and `aof_enabled`. Make sure that the server keeps its data",
    );
  }
  if (policy !== undefined && policy !== "noeviction") {
    refuse(
      "evicts-records",
      `its \`maxmemory-policy\` is ${policy}, so it deletes records when memory runs short, and their operations run again. Set noeviction`,
    );
  }
  if (file === "0") {
    refuse(
      "memory-only",
      "`appendonly` is off, so a restart loses records, and their operations run again. Turn it on, or use replicas and `acknowledgedBy`",
    );
  }
}

/** Valkey reports the Redis version that it is compatible with. */
function checkVersion(
  version: string | undefined,
  oldest: [major: number, minor: number],
  option: string,
): void {
  const [major = 0, minor = 0] = (version ?? "").split(".").map(Number);
  if (version === undefined || major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) return;
  const what = option === "client" ? "must reach" : "with `onDisk` needs";
  throw new InvalidOptionError(
    option,
    `${what} Valkey, or Redis ${oldest.join(".")} or later; this is ${version}`,
  );
}
