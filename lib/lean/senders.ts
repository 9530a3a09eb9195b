/**
 * SQS, SNS, EventBridge and Scheduler clients with only what the relay and the sweeper need. Their names and shapes are those of the SDK's,
 * which they replace in the bundle of the prebuilt functions.
 */
import { hash } from "node:crypto";
import { type Clock, systemClock, systemRandom } from "../core/clock.ts";
import { readAnswer } from "../dynamodb/wire/json.ts";
import { foundCredentials } from "./credentials.ts";
import { configuredEndpoint } from "./endpoint.ts";
import { environment } from "./environment.ts";
import { type LeanConnection, openConnection } from "./lean-connection.ts";
import { configuredAttempts } from "./profile.ts";
import { encodeQuery, readQueryAnswer } from "./query-protocol.ts";
import { jsonService, type LeanService } from "./service.ts";

export const SQS: LeanService = {
  ...jsonService("sqs", "AWS_ENDPOINT_URL_SQS", "1.0", "AmazonSQS"),
  decode(answer, _, input) {
    const output = readAnswer(answer);
    checkDigests(input, output);
    return output;
  },
};

export const SNS: LeanService = {
  name: "sns",
  endpointVariable: "AWS_ENDPOINT_URL_SNS",
  contentType: "application/x-www-form-urlencoded",
  target: () => undefined,
  encode: (operation, input) => encodeQuery(operation, "2010-03-31", input),
  decode: readQueryAnswer,
};

export const EVENTBRIDGE: LeanService = {
  ...jsonService("events", "AWS_ENDPOINT_URL_EVENTBRIDGE", "1.1", "AWSEvents"),
  // Times are epoch seconds in the protocol.
  encode: (_, input) =>
    JSON.stringify(input, function inSeconds(this: Readonly<Record<string, unknown>>, name, value: unknown) {
      const given = this[name];
      return given instanceof Date ? given.getTime() / 1000 : value;
    }),
};

/** A REST protocol, of which only `CreateSchedule` is needed. */
const SCHEDULER: LeanService = {
  ...jsonService("scheduler", "AWS_ENDPOINT_URL_SCHEDULER", "1.0", ""),
  contentType: "application/json",
  target: () => undefined,
  path: (input) => `/schedules/${encodeURIComponent((input as { readonly Name: string }).Name)}`,
  encode: (_, { Name: _name, ...input }: { readonly Name?: string }) => JSON.stringify(input),
};

interface SenderConfig {
  readonly region?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly requestHandler?: { readonly connectionTimeout?: number; readonly requestTimeout?: number };
  /** @default - the system's clock */
  readonly clock?: Clock;
}

/** Same as the SDK's standard mode. */
const MAX_ATTEMPTS = 3;

class Command {
  readonly operation: string;
  readonly input: object;

  constructor(operation: string, input: object) {
    this.operation = operation;
    this.input = input;
  }
}

class LeanSender {
  /** Returns the endpoint from the environment, if it names one. The default endpoint doesn't count as configured. */
  readonly config: { serviceConfiguredEndpoint(): Promise<string | undefined> };
  readonly #open: () => LeanConnection;
  #connection: LeanConnection | undefined;

  constructor(
    service: LeanService,
    { region, endpoint, requestHandler = {}, clock = systemClock }: SenderConfig = {},
  ) {
    this.config = { serviceConfiguredEndpoint: async () => configuredEndpoint(environment(), service) };
    this.#open = () =>
      openConnection(service, {
        region,
        endpoint,
        credentials: () => foundCredentials(),
        maxAttempts: configuredAttempts(environment()) ?? MAX_ATTEMPTS,
        connectionTimeoutMs: requestHandler.connectionTimeout ?? 1000,
        requestTimeoutMs: requestHandler.requestTimeout ?? 3000,
        maxSockets: 50,
        clock,
        random: systemRandom,
      });
  }

  async send(
    { operation, input }: Command,
    { abortSignal }: { readonly abortSignal?: AbortSignal | undefined } = {},
  ): Promise<object> {
    this.#connection ??= this.#open();
    return this.#connection.send(operation, input, abortSignal);
  }

  destroy(): void {
    this.#connection?.close();
  }
}

export class SQSClient extends LeanSender {
  constructor(config?: SenderConfig) {
    super(SQS, config);
  }
}

export class SNSClient extends LeanSender {
  constructor(config?: SenderConfig) {
    super(SNS, config);
  }
}

export class EventBridgeClient extends LeanSender {
  constructor(config?: SenderConfig) {
    super(EVENTBRIDGE, config);
  }
}

export class SchedulerClient extends LeanSender {
  constructor(config?: SenderConfig) {
    super(SCHEDULER, config);
  }
}

export class SendMessageBatchCommand extends Command {
  constructor(input: object) {
    super("SendMessageBatch", input);
  }
}

export class PublishBatchCommand extends Command {
  constructor(input: object) {
    super("PublishBatch", input);
  }
}

export class PutEventsCommand extends Command {
  constructor(input: object) {
    super("PutEvents", input);
  }
}

export class DescribeEventBusCommand extends Command {
  constructor(input: object) {
    super("DescribeEventBus", input);
  }
}

export class CreateScheduleCommand extends Command {
  constructor(input: object) {
    super("CreateSchedule", input);
  }
}

interface Digested {
  readonly Entries?: readonly { readonly Id: string; readonly MessageBody: string }[];
  readonly Successful?: readonly { readonly Id: string; readonly MD5OfMessageBody?: string }[];
}

/** SQS returns a digest of each body it received. */
function checkDigests(input: Digested, { Successful = [] }: Digested): void {
  for (const { Id, MD5OfMessageBody } of Successful) {
    const sent = input.Entries?.find((entry) => entry.Id === Id);
    if (sent === undefined || MD5OfMessageBody === undefined) continue;
    if (hash("md5", sent.MessageBody) !== MD5OfMessageBody) {
      throw new Error("SQS received a different message than was sent: its digest differs");
    }
  }
}
