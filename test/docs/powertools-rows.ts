// What users of Powertools rely on, and what they gain: the tables of docs/reference/powertools.md and of its guide are made from these rows.

/** A path below test/, and the title of a test in it as a document shows it: `…` stands for each case's own part. */
export type Proof = readonly [path: string, title: string];

export interface Behaviour {
  readonly powertools: string;
  readonly status: "same" | "different" | "missing";
  /** May be empty if the status says it all. */
  readonly onceonly: string;
  readonly shownBy: readonly Proof[];
}

export interface Gain {
  readonly when: string;
  readonly powertools: string;
  readonly onceonly: string;
  readonly shownBy: readonly Proof[];
}

const same = (title: string): Proof => ["migrating/same.test.ts", title];
const different = (title: string): Proof => ["migrating/different.test.ts", title];
const instead = (title: string): Proof => ["migrating/instead.test.ts", title];
const missing = (title: string): Proof => ["migrating/missing.test.ts", title];
const gained = (title: string): Proof => ["migrating/gained.test.ts", title];

/** Each is proved on the installed Powertools: by both packages in one test, or by what it exports. */
export const GAINS: readonly Gain[] = [
  {
    when: "an attempt outlives its lock, and the next one has finished",
    powertools: "the late result overwrites the record: the second caller's answer is gone",
    onceonly: "the late write is refused, and its caller gets the second attempt's answer",
    shownBy: [different("an attempt that ends after its lock has run out and the next one has finished")],
  },
  {
    when: "DynamoDB's response to the claim gets lost",
    powertools: "the SDK repeats the request and meets its own record: in progress until the lock runs out",
    onceonly: "recognizes its own claim, and runs",
    shownBy: [different("a claim whose answer gets lost, which the SDK sends again")],
  },
  {
    when: "the effect happened, but the result can't be recorded",
    powertools: "the caller gets an error, and retries",
    onceonly: "the write is repeated until the deadline, then the caller gets the result",
    shownBy: [different("a result that the table refuses once, after the effect")],
  },
  {
    when: "your effect is a database write or an outgoing message",
    powertools: "a second write next to the record: a crash between them loses one",
    onceonly: "`commit` stores effect, messages and result in one transaction",
    shownBy: [gained("writes to DynamoDB without transactions")],
  },
  {
    when: "an attempt died and you can't know whether its effect happened",
    powertools: "runs again after the lock",
    onceonly: "runs again, holds the key for an operator, or asks your `verify` function: `whenAbandoned`",
    shownBy: [gained("has no options for waiting, scopes, unknown outcomes, leases or decisions")],
  },
  {
    when: "a duplicate arrives while the first call runs",
    powertools: "is refused",
    onceonly: "is refused, or waits for the answer: `whenInProgress`",
    shownBy: [
      gained("has no options for waiting, scopes, unknown outcomes, leases or decisions"),
      ["core/waiting.test.ts", "waits for the winner and answers with its result"],
    ],
  },
  {
    when: "two tenants send the same key",
    powertools: "share a record, unless you put the tenant into the key",
    onceonly: "are kept apart by `scope`, which HTTP requires",
    shownBy: [gained("has no options for waiting, scopes, unknown outcomes, leases or decisions")],
  },
  {
    when: "you want to see what was decided",
    powertools: "no metrics",
    onceonly: "`observe` reports each decision; `emfMetrics` writes them for CloudWatch",
    shownBy: [gained("emits no metrics")],
  },
  {
    when: "your data is in PostgreSQL",
    powertools: "stores for DynamoDB and Valkey or Redis",
    onceonly: "`PostgresStore`: record and rows in one SQL transaction",
    shownBy: [gained("has stores for DynamoDB and a cache only")],
  },
  {
    when: "your code isn't a plain handler",
    powertools: "wrappers for a function, a method and Middy",
    onceonly:
      "also HTTP, batches, servers, Kafka, RabbitMQ and NATS consumers, steps, sagas, and an outbox with its relay",
    shownBy: [gained("has wrappers for a function, a method and Middy only")],
  },
];

export const BEHAVIOURS: Readonly<Record<string, readonly Behaviour[]>> = {
  Wrapping: [
    {
      powertools: "A repeated call gets the first result, and nothing runs",
      status: "same",
      onceonly: "",
      shownBy: [same("runs once for a key and gives every caller the first result")],
    },
    {
      powertools: "Any function can be wrapped, by its first argument or `dataIndexArgument`",
      status: "different",
      onceonly: "`runOnce` names key and payload, and accepts any closure",
      shownBy: [instead("is `dataIndexArgument`: any argument is key and payload of any function")],
    },
    {
      powertools: "`@idempotent` decorates a method",
      status: "same",
      onceonly: "`@once(options)`",
      shownBy: [
        [
          "core/once.test.ts",
          "runs a method once per key, with its `this` and an execution, and replays its result",
        ],
      ],
    },
    {
      powertools: "A wrapped method keeps its `this`",
      status: "different",
      onceonly: "`idempotent` wraps functions: bind the method, or use `@once`",
      shownBy: [different("a method that is wrapped, and its `this`")],
    },
    {
      powertools: "All arguments reach the function",
      status: "same",
      onceonly: "and `context.idempotency` is added",
      shownBy: [
        [
          "lambda/invocations.test.ts",
          "keeps what else is in the context, also its accessors, and adds nothing to the caller's own",
        ],
      ],
    },
    {
      powertools: "Operations that share a persistence layer share the first one's settings",
      status: "different",
      onceonly: "a store has no settings of an operation, so share it freely",
      shownBy: [
        different("keeps the settings of the first one, in Powertools"),
        different("has settings of none, in onceonly"),
      ],
    },
    {
      powertools: "`registerLambdaContext` for functions inside the handler",
      status: "different",
      onceonly: "pass `leaseSeconds`, or `context`, to `runOnce`",
      shownBy: [
        instead("is `registerLambdaContext`: the lease of an inner function is the time that is left"),
      ],
    },
    {
      powertools: "Without a Lambda context a warning, and a crash blocks the key until the record expires",
      status: "different",
      onceonly: "refused",
      shownBy: [
        different("a function without a Lambda context that never ends"),
        ["lambda/invocations.test.ts", "needs a lease if the context has no remaining time"],
      ],
    },
    {
      powertools: "Durable execution contexts: a replay passes its own record",
      status: "same",
      onceonly: "`idempotentDurable`; a second execution is refused too, as long as the first one can live",
      shownBy: [
        [
          "durable/idempotent-durable.test.ts",
          "a replay goes on under its own claim, and another execution gets the result",
        ],
      ],
    },
    {
      powertools: "`POWERTOOLS_IDEMPOTENCY_DISABLED`",
      status: "missing",
      onceonly: "an environment variable must not switch protection off; tests use a `MemoryStore`",
      shownBy: [
        missing("has no environment variable that switches protection off"),
        instead("is `POWERTOOLS_IDEMPOTENCY_DISABLED`: a test gives a store in memory and keys of its own"),
      ],
    },
    {
      powertools: "Tests run against DynamoDB Local",
      status: "same",
      onceonly: "",
      shownBy: [
        [
          "lambda/on-dynamodb.test.ts",
          "gives ten concurrent and ten later requests one effect and one answer",
        ],
      ],
    },
  ],
  Middy: [
    {
      powertools: "A replay ends the stack early",
      status: "same",
      onceonly: "",
      shownBy: [
        [
          "lambda/middy/middleware.test.ts",
          "runs the handler once, and answers every retry with the first result",
        ],
      ],
    },
    {
      powertools: "A handler that returns `undefined` runs again",
      status: "different",
      onceonly: "runs once",
      shownBy: [different("a Middy handler that returns undefined")],
    },
    {
      powertools: "On a replay, Powertools' Logger, Metrics and Tracer around it still clean up",
      status: "different",
      onceonly:
        "Middy skips outer middlewares then; `middy(idempotent(handler, …))` runs every hook on replays too",
      shownBy: [
        [
          "lambda/middy/middleware-order.test.ts",
          "runs every middleware around it on replays and refusals too",
        ],
      ],
    },
    {
      powertools: "An error in an earlier middleware touches no record",
      status: "same",
      onceonly: "",
      shownBy: [same("records nothing when a middleware before it fails")],
    },
    {
      powertools: "An early timeout counts as an error, and deletes the record",
      status: "different",
      onceonly: "the handler may still be running, so the claim is kept until its lease ends",
      shownBy: [
        [
          "lambda/middy/middleware.test.ts",
          "leaves the outcome open when Middy times out early, and keeps what the handler commits later",
        ],
      ],
    },
  ],
  Keys: [
    {
      powertools: "`eventKeyJmesPath`; only what it selects counts",
      status: "same",
      onceonly: "a function",
      shownBy: [same("does not count what is neither key nor validated payload")],
    },
    {
      powertools: "`[user, product]` as key",
      status: "different",
      onceonly: "one string; a missing field must not become the text `undefined`",
      shownBy: [
        instead("is `[user, product]`: several fields make one text, and none of them may be missing"),
      ],
    },
    {
      powertools: "`powertools_json(body).id`",
      status: "different",
      onceonly: "`JSON.parse` in the function",
      shownBy: [instead("is `powertools_json(body).id`: the key is read by code, also out of a text")],
    },
    {
      powertools: "`jmesPathOptions`",
      status: "missing",
      onceonly: "a function reads the key, so it can do whatever JMESPath functions do",
      shownBy: [missing("has no option `…`")],
    },
    {
      powertools: "Without `eventKeyJmesPath` the whole event is the key",
      status: "different",
      onceonly: "`key` is required; a hash of the fields that matter is one",
      shownBy: [
        instead("is a key of the whole event: a hash of what counts"),
        ["lambda/options.test.ts", "rejects the option …: … immediately"],
      ],
    },
    {
      powertools: "The order of fields doesn't matter",
      status: "same",
      onceonly: "in the fingerprint; over HTTP the body is compared byte by byte",
      shownBy: [["core/fingerprint.test.ts", "does not depend on the order of names, at any depth"]],
    },
    {
      powertools: "A key may be a number, an object or a list",
      status: "different",
      onceonly: "a string of 1 to 255 characters, else `IdempotencyKeyInvalidError`",
      shownBy: [different("a key that is a number")],
    },
    {
      powertools: "An empty string counts as no key",
      status: "different",
      onceonly: "`IdempotencyKeyInvalidError`",
      shownBy: [different("a key that is an empty text")],
    },
    {
      powertools: "`throwOnNoIdempotencyKey: true` refuses events without a key",
      status: "same",
      onceonly: "the default",
      shownBy: [same("refuses an event without a key, where that is asked for")],
    },
    {
      powertools: "Without it they run each time",
      status: "same",
      onceonly: '`whenKeyMissing: "run"`, reported as `ran-unprotected`',
      shownBy: [same("runs an event without a key each time, where that is asked for")],
    },
    {
      powertools: "Such calls leave no record",
      status: "different",
      onceonly: "each gets a record under its own key, so `commit` and `childKey` work",
      shownBy: [different("what is recorded of events without a key that run all the same")],
    },
    {
      powertools: "`keyPrefix` keeps operations apart",
      status: "same",
      onceonly: "`operation`",
      shownBy: [same("keeps operations apart by their name")],
    },
    {
      powertools: "Without it the function's name does",
      status: "different",
      onceonly: "`operation` is required, so a renamed function keeps its records",
      shownBy: [["core/options.test.ts", "requires …"]],
    },
    {
      powertools: "`hashFunction`",
      status: "missing",
      onceonly: "always SHA-256, over each part with its length",
      shownBy: [
        missing("has no option `…`"),
        ["core/identity.test.ts", "gives different tuples different record keys, whatever they are made of"],
      ],
    },
    {
      powertools: "The error of a refused duplicate contains the record's key",
      status: "different",
      onceonly: "errors never contain keys; `observe` gets the key's hash",
      shownBy: [
        different("the key in the error of a refused duplicate"),
        [
          "lambda/secrets.test.ts",
          "with … no secret of key, payload or result is in events, messages or problem bodies",
        ],
      ],
    },
  ],
  Payloads: [
    {
      powertools: "`payloadValidationJmesPath` refuses another payload",
      status: "same",
      onceonly: "`fingerprint`",
      shownBy: [same("refuses another payload under a known key, once the first call is done")],
    },
    {
      powertools: "Without it every payload replays",
      status: "different",
      onceonly: 'the whole event counts; `fingerprint: () => ""` switches the check off',
      shownBy: [
        different("another payload under a known key, without an option about payloads"),
        instead(
          "replaces a missing `payloadValidationJmesPath`: an empty fingerprint lets every payload replay",
        ),
      ],
    },
    {
      powertools: "The event is hashed again after the handler, which may have changed it",
      status: "different",
      onceonly: "hashed once, before the handler",
      shownBy: [different("a handler that changes its event")],
    },
  ],
  "Results and errors": [
    {
      powertools: "`null`, `false`, `0`, an empty string and `undefined` are replayed by the wrapper",
      status: "same",
      onceonly: "",
      shownBy: [same("replays … from a wrapped function")],
    },
    {
      powertools: "Values that JSON doesn't have are stored as the marshaller converts them",
      status: "different",
      onceonly: "`ResponseNotStorableError`, for the first caller and for the next",
      shownBy: [
        [
          "core/results.test.ts",
          "a result that cannot be stored is refused for every caller, and never made again",
        ],
      ],
    },
    {
      powertools: "A result beyond 400 KB fails the call after its effect",
      status: "different",
      onceonly: "compressed, or reported by `ResultNotKeptError` from the second call on",
      shownBy: [
        different("a result larger than an item"),
        [
          "dynamodb/results.test.ts",
          "a result of 1 MB that fits no item is done once, and replays say that it was not kept",
        ],
      ],
    },
    {
      powertools: "`responseHook` changes replays",
      status: "different",
      onceonly: '`returns: "outcome"` says whether the result was replayed; over HTTP a header does',
      shownBy: [
        instead("is `responseHook`: `replayed` distinguishes a replay from a first answer"),
        [
          "lambda/http/answers.test.ts",
          "answers every retry as it answered first, and says that it is a replay",
        ],
      ],
    },
    {
      powertools: "A handler that throws leaves nothing, and a retry runs",
      status: "same",
      onceonly: "the record stays, with the state `released`",
      shownBy: [
        same("throws what the handler threw, and a retry runs"),
        different("what is left of a call that failed"),
      ],
    },
    {
      powertools: "A thrown value that isn't an Error becomes `IdempotencyUnknownError`",
      status: "different",
      onceonly: "thrown as it is",
      shownBy: [different("a handler that throws a value that isn't an Error")],
    },
    {
      powertools: "An error that is caught and returned is a result",
      status: "same",
      onceonly: "except over HTTP: statuses from 400 up aren't stored",
      shownBy: [
        same("keeps a caught error that is returned as a result"),
        ["lambda/http/answers.test.ts", "runs a handler that answers … … times in two calls"],
      ],
    },
    {
      powertools: "An error after an idempotent function doesn't touch its record",
      status: "same",
      onceonly: "",
      shownBy: [same("leaves the record of a function alone when its caller fails later")],
    },
    {
      powertools: "A store that fails before the handler: `IdempotencyPersistenceLayerError`",
      status: "same",
      onceonly: "`StoreUnavailableError`",
      shownBy: [["core/store-failures.test.ts", "a throttled claim refuses by default, and runs nothing"]],
    },
    {
      powertools: "A store that fails after it: the same error, although the effect has happened",
      status: "different",
      onceonly: "repeated until the deadline, then the handler's answer",
      shownBy: [
        different("a result that the table refuses once, after the effect"),
        [
          "core/lost-answers.test.ts",
          "a completion that can never be written costs one effect, and the caller gets the result",
        ],
      ],
    },
    {
      powertools: "A deletion that fails hides the handler's error",
      status: "different",
      onceonly: "the handler's error",
      shownBy: [
        different("a handler that throws while the table can't be reached"),
        ["core/release.test.ts", "rule 4: never hides the handler's error in place of one of …"],
      ],
    },
    {
      powertools: "`IdempotencyInconsistentStateError` after two retries, if a record expires under a call",
      status: "different",
      onceonly: "the expired record is replaced under a condition",
      shownBy: [
        ["core/key-age.test.ts", "of two calls that replace an expired record at the same time, one runs"],
      ],
    },
  ],
  "Duplicates, time and caches": [
    {
      powertools: "Concurrent duplicates are refused",
      status: "same",
      onceonly: "`ExecutionInProgressError`; or they wait: `whenInProgress`",
      shownBy: [
        same("refuses a duplicate while the first call is in progress"),
        ["core/waiting.test.ts", "waits for the winner and answers with its result"],
      ],
    },
    {
      powertools: "`expiresAfterSeconds`, counted from the completion, compared when a record is read",
      status: "same",
      onceonly: "`retentionSeconds`",
      shownBy: [same("runs again when the record has expired, whether or not TTL has deleted it")],
    },
    {
      powertools: "A timeout blocks the key until the invocation's time is over",
      status: "same",
      onceonly: "plus `clockSkewSeconds`",
      shownBy: [same("runs again when the time of an invocation that never answered is over")],
    },
    {
      powertools: "`useLocalCache`, `maxLocalCacheSize`: remembers records until they expire",
      status: "different",
      onceonly: "`cached` remembers for 10 seconds, 60 at most; without it each replay asks the table",
      shownBy: [
        ["core/cached.test.ts", "a replay asks for nothing, until ten seconds after the table was asked"],
        ["dynamodb/no-local-cache.test.ts", "each replay asks the table"],
      ],
    },
  ],
  Stores: [
    {
      powertools: "`keyAttr`, `expiryAttr`",
      status: "same",
      onceonly: "`partitionKey`, `ttlAttribute`",
      shownBy: [["dynamodb/options.test.ts", "accepts a name or an ARN, and the keys of another table"]],
    },
    {
      powertools: "`statusAttr`, `inProgressExpiryAttr`, `dataAttr`, `validationKeyAttr`",
      status: "missing",
      onceonly: "fixed names",
      shownBy: [missing("has no option `…`")],
    },
    {
      powertools: "`sortKeyAttr`: tables with a sort key",
      status: "same",
      onceonly: "`sortKey`; the key stays in the partition key",
      shownBy: [same("keeps its records in a table with a sort key")],
    },
    {
      powertools: "`awsSdkV3Client`",
      status: "same",
      onceonly: "`client`, a document client as well",
      shownBy: [["dynamodb/options.test.ts", "works through a document client on …"]],
    },
    {
      powertools: "`clientConfig`",
      status: "missing",
      onceonly: "pass `new DynamoDBClient(config)` as `client`",
      shownBy: [missing("has no option `…`")],
    },
    {
      powertools: "Four permissions on the table",
      status: "different",
      onceonly: "no deletions; the construct grants what is used, and no more",
      shownBy: [["cdk/rights-and-requests.test.ts", "are enough, and none too many"]],
    },
    {
      powertools: "Your own persistence layer",
      status: "same",
      onceonly: "a `Store`; `storeContract` checks it",
      shownBy: [
        [
          "testing/store-contract.test.ts",
          "reports a broken promise as an AssertionError, and requires examples of unacceptable writes",
        ],
      ],
    },
    {
      powertools: "`CachePersistenceLayer` for Valkey and Redis",
      status: "different",
      onceonly:
        "`ValkeyStore`, which refuses servers that may lose records, and commits writes with the record",
      shownBy: [["valkey/writes.test.ts", "applies its writes with the record"]],
    },
  ],
  Batches: [
    {
      powertools: "The record handler is wrapped, by `messageId`",
      status: "same",
      onceonly: "`idempotentBatch`",
      shownBy: [
        ["lambda/batch/record-keys.test.ts", "falls back to the message id, and reports it"],
        [
          "lambda/batch/record-keys.test.ts",
          "takes the key that the function reads of a message without an envelope",
        ],
      ],
    },
    {
      powertools: "Failed records are reported, and finished ones replayed",
      status: "same",
      onceonly: "",
      shownBy: [
        [
          "lambda/batch/idempotent-batch.test.ts",
          "replays the records that were done before a crash after 7 of 10, and runs the other 3",
        ],
      ],
    },
    {
      powertools: "`registerLambdaContext` in each invocation",
      status: "different",
      onceonly: "done for you",
      shownBy: [
        ["lambda/batch/batch-time.test.ts", "leases each record for the time that the batch has left"],
      ],
    },
  ],
};
