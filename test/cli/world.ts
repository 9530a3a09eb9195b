// The command line in this process, over a table of a real engine.
import { inject } from "vitest";
import { connect, createOutboxTable } from "../../kit/tables.ts";
import { COMMANDS, runCommand, type Terminal } from "../../lib/cli/index.ts";
import { DynamoDBOutbox } from "../../lib/dynamodb/dynamodb-outbox.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import { fakeClock } from "../../lib/fakes/fake-clock.ts";

export async function newWorld() {
  const endpoint = inject("dynamodbEngines")[0]!.endpoint;
  const client = connect(endpoint, { region: "us-east-1" });
  const tableName = await createOutboxTable(client);
  const clock = fakeClock(Date.now());
  return {
    client,
    tableName,
    clock,
    store: new DynamoDBStore({ tableName, client }),
    outbox: new DynamoDBOutbox({ tableName, client }),

    /** Runs a command on the table. `answer`: what the person says who is asked. */
    async run(name: string, args: readonly string[], answer?: boolean) {
      const lines: string[] = [];
      const asked: string[] = [];
      const terminal: Terminal = {
        print: (line) => lines.push(line),
        clock,
        env: {},
        confirm: async (question) => {
          asked.push(question);
          return answer;
        },
      };
      const place = ["--table", tableName, "--endpoint", endpoint];
      const status = await runCommand(COMMANDS[name]!, [...args, ...place], terminal);
      return { status, text: lines.join("\n"), asked };
    },
  };
}

export type World = Awaited<ReturnType<typeof newWorld>>;
