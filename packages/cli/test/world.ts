// The command line in this process, over a table of a real engine.
import { inject } from "vitest";
import { DynamoDBOutbox } from "../../../lib/dynamodb/dynamodb-outbox.ts";
import { DynamoDBStore } from "../../../lib/dynamodb/dynamodb-store.ts";
import { fakeClock } from "../../../lib/testing/fake-clock.ts";
import { connect, createOutboxTable } from "../../../test/kit/tables.ts";
import { COMMANDS, runCommand, type Terminal } from "../lib/commands.ts";

/** Runs a command that needs no table. */
export async function runAlone(name: string, args: readonly string[]) {
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  const terminal: Terminal = { print, clock: fakeClock(Date.now()), env: {}, confirm: async () => undefined };
  const status = await runCommand(COMMANDS[name]!, args, terminal);
  return { status, text: lines.join("\n") };
}

export async function newWorld() {
  const endpoint = inject("dynamodbEngines")[0]!.endpoint;
  const client = connect(endpoint, { region: "us-east-1" });
  const tableName = await createOutboxTable(client);
  const clock = fakeClock(Date.now());
  return {
    client,
    endpoint,
    tableName,
    clock,
    store: new DynamoDBStore({ tableName, client }),
    outbox: new DynamoDBOutbox({ tableName, client }),

    /** Runs a command on the table. `answer`: what the person says who is asked, after `meanwhile`. */
    async run(name: string, args: readonly string[], answer?: boolean, meanwhile = async () => {}) {
      const lines: string[] = [];
      const asked: string[] = [];
      const progress: number[] = [];
      const terminal: Terminal = {
        print: (line) => lines.push(line),
        clock,
        env: {},
        progress: (done) => progress.push(done),
        confirm: async (question) => {
          asked.push(question);
          await meanwhile();
          return answer;
        },
      };
      const place = ["--table", tableName, "--endpoint", endpoint];
      const status = await runCommand(COMMANDS[name]!, [...args, ...place], terminal);
      return { status, text: lines.join("\n"), asked, progress };
    },
  };
}

export type World = Awaited<ReturnType<typeof newWorld>>;
