/** `onceonly console`: a page about one table, on 127.0.0.1, until Ctrl-C. */
import { type CliCommand, noArgument, required } from "./command.ts";
import { startConsole } from "./console/console-server.ts";
import { tableSource } from "./console/table-source.ts";
import { portOf } from "./port.ts";
import { openTable, TABLE_OPTIONS, TABLE_USAGE } from "./table.ts";
import { untilStopped } from "./until-stopped.ts";

/** A page is about a table. */
const { store: _, json: __, ...OPTIONS } = TABLE_OPTIONS;

const USAGE = TABLE_USAGE.replace(", unless --store is set", "").replace(/\n.*--(store|json) .*/g, "");

export const consoleCommand: CliCommand = {
  usage: `usage: onceonly console [options]

Serves a page on 127.0.0.1 until you press Ctrl-C: unsettled keys and unsent messages, from the sparse indexes, and the life of
any key that you look up. It refreshes every 10 seconds with about 40 queries. It never scans or reads payloads, unless you set
--write and ask for it on the page.

  --port <number>             port of the page, 0 for any free port (default 0)
  --write                     let the page settle and erase keys, and send, edit or drop messages; without it the page is read-only${USAGE}`,
  options: { ...OPTIONS, port: { type: "string", default: "0" }, write: { type: "boolean" } },
  async run({ values, positionals, terminal }) {
    noArgument(positionals, "console");
    const name = required(values, "table");
    const port = portOf(`${values.port}`, "--port");
    const mayWrite = values.write === true;
    const table = await openTable(values);
    try {
      const source = tableSource({ table, name, clock: terminal.clock });
      // Before anything is served: a table that is not there should say so here.
      await source.look();
      const { url, stop } = await startConsole({ source, port, mayWrite });
      terminal.print(`console page of ${name}: ${url}`);
      await untilStopped();
      await stop();
    } finally {
      table.close();
    }
    return 0;
  },
};
