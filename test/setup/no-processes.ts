// A unit test starts no process, and so no engine: one that tries fails with a message that says where it belongs.
import childProcess from "node:child_process";
import { syncBuiltinESMExports } from "node:module";

for (const name of ["exec", "execFile", "execFileSync", "execSync", "fork", "spawn", "spawnSync"] as const) {
  Object.defineProperty(childProcess, name, {
    configurable: true,
    value: () => {
      throw new Error(`${name} in a unit test, which starts no process: name the file in test/setup/tier.ts`);
    },
  });
}
syncBuiltinESMExports();
