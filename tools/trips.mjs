// Counts the files of the built package in which a function runs during each of four trips: `npm run trips`, or
// `node tools/trips.mjs <installed package>`, which saves the build.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Bundled, they replace AWS and time: a handler in production contains none of them. */
const STAND_INS = ["shared", "testing"];

const TABLES = ["idempotency", "orders"];
const QUEUE = "https://sqs.us-east-1.amazonaws.com/000000000000/payments.fifo";

const [, , installed] = process.argv;
// Inside the project, so the built files find their dependencies.
const folder = installed ?? mkdtempSync(join(root, "node_modules/.trips-"));
const built = join(folder, "dist/esm");
try {
  if (installed === undefined) build();
  for (const [name, files] of await countTrips()) print(name, files);
} finally {
  if (installed === undefined) rmSync(folder, { recursive: true, force: true });
}

function build() {
  const args = [join(root, "tools/build.mjs"), join(folder, "dist")];
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
  if (status !== 0) throw new Error("the package cannot be built");
}

async function countTrips() {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  const trips = await prepareTrips();
  const counted = [];
  for (const [name, trip] of trips) {
    const event = await trip.event();
    // Sets all counts to zero.
    await session.post("Profiler.takePreciseCoverage");
    const answer = await trip.run(event);
    const { result } = await session.post("Profiler.takePreciseCoverage");
    if (!trip.isRight(answer)) throw new Error(`${name}: answered ${JSON.stringify(answer)}`);
    counted.push([name, result.filter(hasRun).map(fileOf).filter(isCounted).sort()]);
  }
  session.disconnect();
  return counted;
}

/** The function of a module itself runs when it is loaded, and begins with it. */
function hasRun({ url, functions }) {
  if (!url.startsWith(`${pathToFileURL(built)}/`)) return false;
  return functions.some(({ ranges: [{ startOffset, count }] }) => startOffset > 0 && count > 0);
}

function fileOf({ url }) {
  return relative(built, fileURLToPath(url)).replace(/\.js$/, "");
}

function isCounted(file) {
  return !STAND_INS.includes(file.split("/")[0]);
}

async function prepareTrips() {
  const load = (entry) => import(pathToFileURL(join(built, entry)).href);
  const { DynamoDBOutbox, DynamoDBStore, httpIdempotent, idempotent, outboxRelay } = await load("index.js");
  const { DynamoDBModel } = await load("testing/index.js");
  const { DynamoDBClient } = await import("@aws-sdk/client-dynamodb");

  const model = new DynamoDBModel();
  for (const TableName of TABLES) await model.call("CreateTable", tableInput(TableName));
  const connection = { tableName: "idempotency", client: new DynamoDBClient(model.clientConfig()) };
  const store = new DynamoDBStore({ ...connection, outbox: true });
  const createOrder = httpIdempotent(
    ({ body }, { idempotency }) =>
      idempotency.commit(
        { statusCode: 201, body },
        {
          writes: [{ Put: { TableName: "orders", Item: { pk: "order-7" } } }],
          messages: [{ queue: QUEUE, key: "order-7/pay", group: "order-7", body: { id: "order-7" } }],
        },
      ),
    { operation: "create-order", store, scope: "public" },
  );
  const greet = idempotent(({ name }) => `hello, ${name}`, {
    operation: "greet",
    store,
    key: ({ name }) => name,
  });
  let sends = 0;
  const sqs = {
    config: {},
    async send({ input }) {
      sends += 1;
      return { Successful: input.Entries.map(({ Id }) => ({ Id, MessageId: Id })) };
    },
  };
  const relay = outboxRelay({ outbox: new DynamoDBOutbox(connection), destinations: "any", sqs });
  const context = () => ({ awsRequestId: crypto.randomUUID(), getRemainingTimeInMillis: () => 30_000 });

  const http = (isReplayed) => ({
    event: () => orderRequest(),
    run: (event) => createOrder(event, context()),
    isRight: ({ statusCode, headers }) =>
      statusCode === 201 && (headers?.["Idempotent-Replayed"] === "true") === isReplayed,
  });
  return [
    ["an HTTP commit of a write and a message", http(false)],
    ["an HTTP replay", http(true)],
    [
      "one send of the relay",
      {
        event: async () => streamOf((await model.call("Scan", { TableName: "idempotency" })).Items),
        run: (event) => relay(event, context()),
        isRight: ({ batchItemFailures }) => batchItemFailures.length === 0 && sends === 1,
      },
    ],
    [
      "a plain first run",
      {
        event: () => ({ name: "Ada" }),
        run: (event) => greet(event, context()),
        isRight: (answer) => answer === "hello, Ada",
      },
    ],
  ];
}

function tableInput(TableName) {
  return {
    TableName,
    AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
    KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
    BillingMode: "PAY_PER_REQUEST",
  };
}

/** Payload 2 of API Gateway. */
function orderRequest() {
  return {
    version: "2.0",
    rawPath: "/orders",
    rawQueryString: "",
    headers: { "idempotency-key": '"order-7"', "content-type": "application/json" },
    requestContext: { http: { method: "POST", path: "/orders" } },
    body: '{"item":"book"}',
    isBase64Encoded: false,
  };
}

function streamOf(items) {
  const Records = items.map((NewImage, index) => ({
    eventName: "MODIFY",
    dynamodb: { SequenceNumber: String(index + 1), Keys: { pk: NewImage.pk }, NewImage },
  }));
  return { Records };
}

function print(name, files) {
  const ofDatabase = files.filter((file) => file.startsWith("dynamodb/")).length;
  console.log(`\n${name}: ${files.length - ofDatabase} files, and ${ofDatabase} of the database`);
  const folderOf = (file) => file.slice(0, file.lastIndexOf("/") + 1);
  for (const path of new Set(files.map(folderOf))) {
    const names = files.filter((file) => folderOf(file) === path).map((file) => file.slice(path.length));
    console.log(`  ${path || "./"} (${names.length}) ${names.join(" ")}`);
  }
}
