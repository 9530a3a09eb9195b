// Cleans up processes and directories that must not outlive this process, however it ends. One watching shell
// gets the list of them, and cleans up when its standard input closes. A SIGKILL of this process closes it too.
// Windows has no such shell: only there, nothing but an orderly stop cleans up.
import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";

const WATCH = `
trap '' INT TERM HUP
pids=" "; directories=""; newline='
'
while IFS= read -r line; do
  value=\${line#?}
  case $line in
    +*) pids="$pids$value " ;;
    -*) case $pids in *" $value "*) pids="\${pids%% $value *} \${pids#* $value }" ;; esac ;;
    /*) directories="$directories$line$newline" ;;
  esac
done
for pid in $pids; do kill -s KILL -- "-$pid" 2>/dev/null; done
printf %s "$directories" | while IFS= read -r directory; do rm -rf "$directory"; done
`;

let watcher: ChildProcess | undefined;

/** A detached process and whatever it started die with ours, even while stopped (SIGSTOP). */
export function guardProcess(child: ChildProcess): void {
  if (child.pid === undefined) return;
  const { pid } = child;
  notifyWatcher(`+${pid}`);
  child.once("exit", () => notifyWatcher(`-${pid}`));
}

/** The directory, given by its absolute path, is removed when our process ends. */
export function guardDirectory(path: string): void {
  if (!path.startsWith("/") || path.includes("\n")) return;
  notifyWatcher(path);
}

function notifyWatcher(line: string): void {
  if (process.platform === "win32") return;
  watcher ??= startWatcher();
  watcher.stdin?.write(`${line}\n`);
}

function startWatcher(): ChildProcess {
  const child = spawn("/bin/sh", ["-c", WATCH], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    cwd: "/",
  });
  child.on("error", () => undefined);
  child.stdin.on("error", () => undefined);
  child.unref();
  (child.stdin as unknown as Socket).unref();
  return child;
}
