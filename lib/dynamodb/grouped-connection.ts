/**
 * A connection that sends requests made together as one group. Each is answered as if it had been sent by itself, refusals
 * included. If its group doesn't decide it, it is sent by itself.
 */
import type { Clock } from "../core/clock.ts";
import type { Connection, DynamoDBAnswer, DynamoDBInputs, OperationName } from "./connection.ts";
import { Gatherer } from "./gatherer.ts";
import type { GroupKind, GroupSender } from "./group-sender.ts";
import { MAX_COMMITS, sendCommits } from "./grouped-commits.ts";
import { MAX_LOOKS, sendLooks } from "./grouped-looks.ts";
import { MAX_STATEMENTS, type Stated, sendStatements } from "./grouped-statements.ts";
import type { Commit } from "./join-commits.ts";
import { canBeStated, insertion, update } from "./record-statements.ts";
import type { RecordTable } from "./record-table.ts";

export interface GroupOptions {
  readonly clock: Clock;
  /** Whether the end of a claim waits for a group under way. Until it is written, the effect exists but isn't on record. */
  readonly completionsWait: boolean;
  /** Called once for each kind of group that DynamoDB refuses for good. */
  readonly onRefused: (error: unknown) => void;
}

export class GroupedConnection implements Connection {
  readonly #connection: Connection;
  readonly #table: RecordTable;
  readonly #completionsWait: boolean;
  readonly #refused: Set<GroupKind>;
  readonly #statements: Gatherer<Stated>;
  readonly #looks: Gatherer<DynamoDBInputs["GetItem"]>;
  readonly #commits: Gatherer<Commit>;

  constructor(
    connection: Connection,
    table: RecordTable,
    { clock, completionsWait, onRefused }: GroupOptions,
  ) {
    this.#connection = connection;
    this.#table = table;
    this.#completionsWait = completionsWait;
    const refused = new Set<GroupKind>(canBeStated(table) ? [] : ["looks", "statements"]);
    this.#refused = refused;
    const sender: GroupSender = {
      connection,
      table,
      get canLook() {
        return !refused.has("looks");
      },
      refuse(kind, error) {
        if (!refused.has(kind)) onRefused(error);
        refused.add(kind);
      },
    };
    this.#statements = new Gatherer(clock, MAX_STATEMENTS, (members) => sendStatements(sender, members));
    this.#looks = new Gatherer(clock, MAX_LOOKS, (members) => sendLooks(sender, members));
    this.#commits = new Gatherer(clock, MAX_COMMITS, (members) => sendCommits(sender, members));
  }

  send<Name extends OperationName>(
    operation: Name,
    input: DynamoDBInputs[Name],
  ): Promise<DynamoDBAnswer<Name>> {
    return this.#gathered({ operation, input } as Asked) ?? this.#connection.send(operation, input);
  }

  /** `undefined` for a request that has to be sent by itself. */
  #gathered(asked: Asked): Promise<never> | undefined {
    if (asked.operation === "TransactWriteItems") return this.#commits.ask(asked.input);
    if (asked.operation === "GetItem") {
      return this.#refused.has("looks") || asked.input.ConsistentRead
        ? undefined
        : this.#looks.ask(asked.input);
    }
    if (this.#refused.has("statements")) return undefined;
    const stated = this.#stated(asked);
    const waits = this.#completionsWait || asked.operation === "PutItem";
    return stated && this.#statements.ask(stated, { waits });
  }

  #stated(asked: Asked): Stated | undefined {
    const table = this.#table;
    if (asked.operation === "PutItem") {
      const statement = insertion(table, asked.input);
      const key = table.keyOf(`${asked.input.Item?.[table.names.partitionKey]?.S}`);
      return statement && { ...asked, statement, key };
    }
    if (asked.operation !== "UpdateItem") return undefined;
    const statement = update(table, asked.input);
    return statement && { ...asked, statement, key: asked.input.Key ?? {} };
  }
}

type Asked = {
  [Name in OperationName]: { readonly operation: Name; readonly input: DynamoDBInputs[Name] };
}[OperationName];
