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
      "no function in the templates uses the table or queue, so the templates don't show that it holds onceonly's records or messages",
    wrong: [
      "a table of the app without TTL",
      "a table of the app with a different TTL attribute",
      "a table of the app with a different key",
      "a table of the app whose customer key the grant doesn't know",
      "a table of the app whose stream has keys only",
      "a table of the app with strong consistency",
      "a table of the app with another key, by its name",
      "a stream with keys only, of a table referenced by its name",
      "a key that is destroyed while its queue is kept",
      "a dead-letter queue that is only known as a token",
    ],
  },
  {
    reason:
      "the permissions to use a key or to commit are in policies, and the doctor doesn't compare policies with your code",
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
      "`UseIdempotency` on a stack in which one function already has it",
      "`UseIdempotency` on a stack with functions that CDK creates itself",
      "a web function of Lambda",
      "`UseIdempotency` on a stack with a function of an included template",
      "an alias, whose function has no variable",
      "a consumer of another app",
      "a consumer without `UseIdempotency`",
    ],
  },
  {
    reason: "operation names aren't a property of a function: only `UseIdempotency` knows them",
    wrong: [
      "a destination for a misspelled operation",
      "a destination for an operation that no function commits",
      "an operation that commits but has no destination",
      "an operation that no function runs",
      "such an operation, in a separate stack",
      "two functions that run the same operation on one table",
      "two functions with the same operation on a table that is imported twice",
      "a function that may access the records of every operation",
      "a role that may access the records of every operation",
    ],
  },
  {
    reason: "the bundle was built before the template, which contains only its hash",
    wrong: ["an `IdempotentFunction` that leaves this package out of its bundle"],
  },
  {
    reason: "your own function is a relay because of its permissions, and no environment variable shows that",
    wrong: ["a relay with two mappings to the same stream", "a second relay that the app makes itself"],
  },
  {
    reason: "the doctor looks for missing alarms, and doesn't check those that you chose",
    wrong: [
      "two stages of one account with the same service",
      "two tables of one stack with the same service",
      "an alarm on dead letters that are older than their queue's retention",
      "the default alarm on the age of dead letters, with a queue that keeps them for an hour",
    ],
  },
  {
    reason: "the template contains only the new value, which may be intended",
    wrong: [
      "an override of a variable that handlers read",
      "an override of the relay's shards",
      "an override of the relay's table",
      "a different table that is set on the sweeper",
    ],
  },
  {
    reason:
      "the doctor reports the same mistake under another check: `retention`, `table-index` or `second-relay`",
    wrong: [
      "such an environment variable, set afterwards",
      "other key attributes for a table with onceonly's own",
      "two relays on one table, one of which references it by its name",
    ],
  },
];
