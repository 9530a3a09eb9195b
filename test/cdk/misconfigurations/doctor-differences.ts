// Where `onceonly doctor --template` and a synthesis differ, and why. packages/cli/test/doctor/agreement.test.ts keeps the list exact:
// everything else agrees.

interface Difference {
  readonly reason: string;
  /** The misconfigurations, by what is wrong in them. */
  readonly wrong: readonly string[];
}

export const DOCTOR_DIFFERENCES: readonly Difference[] = [
  {
    reason:
      "no function in the templates uses the table or the queue, so nothing says that it holds records or messages of onceonly",
    wrong: [
      "a table of the app without TTL",
      "a table of the app with another TTL attribute",
      "a table of the app with another key",
      "a table of the app whose customer key the grant doesn't know",
      "a table of the app whose stream has keys only",
      "a table of the app with strong consistency",
      "a table of the app with another key, by its name",
      "a stream of keys only, of a table that is known by its name",
      "a key that is destroyed under a queue that is kept",
      "a dead-letter queue that is known by a token only",
    ],
  },
  {
    reason:
      "the rights to use a key or to commit are in policies, and the doctor doesn't compare policies with what your code does",
    wrong: [
      "a table of another account, and commits",
      "commits to a table without transactions",
      "a `DedupQueue` imported without the key of its queue",
      "a relay to a queue that is imported without its key",
      "a relay to a topic that is imported without its key",
      "commits to a table that is imported by its name without its key",
    ],
  },
  {
    reason:
      "only the construct tree knows what the mixin was applied to; the template has a function without the variables",
    wrong: [
      "`UseIdempotency` on a table",
      "`UseIdempotency` on a queue",
      "`UseIdempotency` on a stack without functions",
      "`UseIdempotency` on an alias",
      "`UseIdempotency` on a version",
      "`UseIdempotency` on an imported function",
      "`UseIdempotency` on a singleton function",
      "`UseIdempotency` on the relay",
      "`UseIdempotency` on a stack in which a function has it already",
      "`UseIdempotency` on a stack with functions of CDK's own",
      "a web function of Lambda",
      "`UseIdempotency` on a stack with a function of an included template",
      "an alias, whose function has no variable",
      "a consumer of another app",
      "a consumer without `UseIdempotency`",
    ],
  },
  {
    reason:
      "the names of operations are no property of a function: `UseIdempotency` was given them, or wasn't",
    wrong: [
      "a destination of a misspelt operation",
      "a destination of an operation that no function commits",
      "an operation that commits, and has no destination",
      "an operation that no function runs",
      "such an operation, in a stack of its own",
      "two functions that run one operation of a table",
      "two functions with one operation of a table that is imported twice",
      "a function with the records of every operation",
      "a role with the records of every operation",
    ],
  },
  {
    reason: "the bundle was made before the template, which has only its hash",
    wrong: ["an `IdempotentFunction` that leaves this package out of its bundle"],
  },
  {
    reason: "a function of your own is a relay by its rights, and no variable says so",
    wrong: ["a relay with two mappings to the same stream", "a second relay that the app makes itself"],
  },
  {
    reason:
      "metrics and alarms are the checklist's: the doctor looks for alarms that are missing, and not at those that you chose",
    wrong: [
      "two stages of one account under one service",
      "two tables of one stack under one service",
      "an alarm on dead letters that are older than their queue keeps them",
      "the default alarm on the age of dead letters, which their queue keeps for an hour",
    ],
  },
  {
    reason: "the template has the new value only, which may be meant",
    wrong: [
      "an override of a variable that handlers read",
      "an override of the relay's shards",
      "an override of the relay's table",
      "another table that is set on the sweeper",
    ],
  },
  {
    reason:
      "the doctor reports the same mistake in other words: `retention`, `table-index` or `second-relay`",
    wrong: [
      "such a variable, set afterwards",
      "other keys for a table with ours",
      "two relays on one table, which one of them knows by its name",
    ],
  },
];
