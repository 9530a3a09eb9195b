// Shared by the commands that run the sample: their exit status, and an exit that leaves nothing running.
// Status 2 if the command could not run, 130 after Ctrl-C, otherwise the command's own status.

const CANNOT_RUN = 2;
const INTERRUPTED = 130;

export interface Command<Options> {
  readonly usage: string;
  /** @throws Error that says what is wrong with the arguments */
  readonly readOptions: (args: readonly string[]) => Options | "help";
  /** @returns the exit status */
  readonly run: (options: Options, signal: AbortSignal) => Promise<number>;
}

export async function runCommand<Options>(command: Command<Options>): Promise<void> {
  // Nothing else keeps this process running while a stack starts or stops.
  const keepRunning = setInterval(() => undefined, 60_000);
  process.exitCode = await statusOf(command).finally(() => clearInterval(keepRunning));
}

async function statusOf<Options>({ usage, readOptions, run }: Command<Options>): Promise<number> {
  // The SDK's advice on Node versions is meant for deployed code.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";
  let options: Options | "help";
  try {
    options = readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${messageOf(error)}\n\n${usage}`);
    return CANNOT_RUN;
  }
  if (options === "help") {
    console.log(usage);
    return 0;
  }

  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => stopping.abort(new Error(`stopped by ${signal}`)));
  }
  try {
    return await run(options, stopping.signal);
  } catch (error) {
    const { aborted, reason } = stopping.signal;
    console.error(messageOf(aborted ? reason : error));
    return aborted ? INTERRUPTED : CANNOT_RUN;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
