/**
 * Messages with `deliverAt`: one-time schedules in EventBridge Scheduler, each of which sends one message. Loads the SDK's
 * package, which only senders of such messages need to install.
 */
import type { SchedulerClient } from "@aws-sdk/client-scheduler";
import { PayloadInvalidError } from "../core/errors.ts";
import { hashTuple } from "../core/identity.ts";
import { type Address, destinationOf } from "../core/messages/address.ts";
import { dueTimeOf } from "../core/messages/deliver-at.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import { type Check, checkOptions, methods } from "../core/option-checks.ts";
import { type AwsClientLike, CLIENT_CONFIG, cannotLoad } from "./clients.ts";
import { DestinationRefused, type EntryEnd, notSent, type SendEntries, sentAs } from "./destination-queue.ts";
import type { EventForm } from "./eventbridge.ts";
import type { SnsForm, SqsForm } from "./sqs-and-sns.ts";

/** Where messages with `deliverAt` wait until they are due. */
export interface SchedulerOptions {
  /** ARN of the schedule group that holds the schedules, in the Region of the destinations. */
  readonly groupArn: string;
  /** ARN of the role with which EventBridge Scheduler sends to the destinations. The sender needs `iam:PassRole` for it. */
  readonly roleArn: string;
  /**
   * ARN of a standard queue for messages that couldn't be delivered. EventBridge Scheduler tries for 24 hours.
   * @default - such a message is lost
   */
  readonly deadLetterQueueArn?: string | undefined;
  /** A `SchedulerClient` for the group's Region. @default - one that gives up connecting after 1 second, a request after 3 */
  readonly client?: AwsClientLike | undefined;
}

const GROUP_ARN = /^arn:(aws[\w-]*):scheduler:([a-z\d-]+):(\d{12}):schedule-group\/([\w.-]{1,64})$/;

const CHECKS: Readonly<Record<keyof SchedulerOptions, Check>> = {
  groupArn: [
    "must be the ARN of a schedule group, such as arn:aws:scheduler:eu-central-1:123456789012:schedule-group/later",
    (value) => GROUP_ARN.test(`${value}`),
  ],
  roleArn: [
    "must be the ARN of a role, such as arn:aws:iam::123456789012:role/scheduler",
    (value) => /^arn:aws[\w-]*:iam::\d{12}:role\/.+$/.test(`${value}`),
  ],
  deadLetterQueueArn: [
    "must be the ARN of a standard SQS queue",
    (value) => /^arn:aws[\w-]*:sqs:[\w-]+:\d{12}:[\w-]{1,80}$/.test(`${value}`),
  ],
  client: methods("send"),
};

/** A message in the form of its destination, and the schedule that sends it. */
export interface ScheduleForm {
  readonly name: string;
  /** Epoch ms. */
  readonly at: number;
  readonly form: SqsForm | SnsForm | EventForm;
}

export const scheduleForm = (message: StoredMessage, form: ScheduleForm["form"]): ScheduleForm => ({
  name: scheduleNameOf(message),
  at: dueTimeOf(message),
  form,
});

/**
 * The same at every try to send one message, so that a second schedule can't exist, and another for each different message: the
 * consumer decides about those, as for messages without a delay.
 */
function scheduleNameOf(message: StoredMessage): string {
  const { key, body, deliverAt, source, detailType, group, attributes } = message;
  const others = JSON.stringify([deliverAt, source, detailType, group, attributes]);
  return hashTuple("onceonly/schedule/1", destinationOf(message), key, body, others);
}

/** EventBridge Scheduler, for messages of one producer, relay or sweeper. */
export class Scheduler {
  readonly #options: SchedulerOptions | undefined;
  #opened: ReturnType<typeof open> | undefined;

  /** @throws InvalidOptionError (`INVALID_OPTION`) */
  constructor(options: SchedulerOptions | undefined) {
    if (options) checkOptions(options, CHECKS, ["groupArn", "roleArn"]);
    this.#options = options;
  }

  /** Creates schedules. A schedule that exists already counts as created. */
  async to(address: Address): Promise<SendEntries<ScheduleForm>> {
    const options = this.#required();
    const place = placeOf(options);
    if (address.region !== undefined && address.region !== place.region) {
      throw new DestinationRefused(
        `a message with \`deliverAt\` must have a destination in the Region of \`scheduler.groupArn\`, which is ${place.region} (got ${address.region})`,
      );
    }
    const { client, CreateScheduleCommand } = await this.#open();
    return (forms, abortSignal) =>
      allEnds(
        forms.map(async ({ name, at, form }): Promise<EntryEnd> => {
          const command = new CreateScheduleCommand({
            Name: name,
            GroupName: place.group,
            ScheduleExpression: `at(${secondsOf(at)})`,
            ScheduleExpressionTimezone: "UTC",
            FlexibleTimeWindow: { Mode: "OFF" },
            ActionAfterCompletion: "DELETE",
            Target: { ...targetOf(form, address, place), ...sentBy(options) },
          });
          try {
            await client.send(command, { abortSignal });
          } catch (error) {
            const { name: code, $fault } = Object(error);
            if (code !== "ConflictException") {
              // Without a fault, no answer came from the service.
              if ($fault !== "client") throw error;
              return notSent(code, false);
            }
          }
          return sentAs(name);
        }),
      );
  }

  /**
   * Deletes a message's schedule; resolves to `false` if there is none.
   * @throws DestinationRefused without options; the client's error
   */
  async remove(message: StoredMessage, abortSignal?: AbortSignal): Promise<boolean> {
    if (message.deliverAt === undefined)
      throw new PayloadInvalidError("the message: only a message with `deliverAt` can be canceled");
    const { group } = placeOf(this.#required());
    const { client, DeleteScheduleCommand } = await this.#open();
    const command = new DeleteScheduleCommand({ Name: scheduleNameOf(message), GroupName: group });
    try {
      await client.send(command, { abortSignal });
      return true;
    } catch (error) {
      if (Object(error).name === "ResourceNotFoundException") return false;
      throw error;
    }
  }

  #required(): SchedulerOptions {
    if (this.#options) return this.#options;
    throw new DestinationRefused("a message with `deliverAt` needs the option `scheduler` of its sender");
  }

  /** If the package can't be loaded, try again the next time. */
  async #open(): ReturnType<typeof open> {
    this.#opened ??= open(this.#required());
    this.#opened.catch(() => {
      this.#opened = undefined;
    });
    return this.#opened;
  }
}

async function open(options: SchedulerOptions) {
  const { CreateScheduleCommand, DeleteScheduleCommand, SchedulerClient } = await import(
    "@aws-sdk/client-scheduler"
  ).catch(cannotLoad("@aws-sdk/client-scheduler"));
  const { region } = placeOf(options);
  const client =
    (options.client as SchedulerClient | undefined) ?? new SchedulerClient({ ...CLIENT_CONFIG, region });
  return { client, CreateScheduleCommand, DeleteScheduleCommand };
}

/** A request that fails as a whole fails all of them: repeated schedules are harmless. */
async function allEnds(ends: readonly Promise<EntryEnd>[]): Promise<readonly EntryEnd[]> {
  await Promise.allSettled(ends);
  return Promise.all(ends);
}

interface Place {
  readonly partition: string;
  readonly region: string;
  readonly account: string;
  readonly group: string;
}

function placeOf({ groupArn }: SchedulerOptions): Place {
  const [, partition, region, account, group] = GROUP_ARN.exec(groupArn) as unknown as string[];
  return { partition, region, account, group } as Place;
}

const sentBy = ({ roleArn, deadLetterQueueArn }: SchedulerOptions) => ({
  RoleArn: roleArn,
  ...(deadLetterQueueArn !== undefined && { DeadLetterConfig: { Arn: deadLetterQueueArn } }),
});

/** Never earlier than asked for. */
const secondsOf = (at: number): string => new Date(Math.ceil(at / 1000) * 1000).toISOString().slice(0, 19);

/**
 * Queues and topics are universal targets, because the others send no attributes, and so no envelope. A bus is EventBridge's own
 * target: a universal one counts an event as sent that `PutEvents` has refused in its answer.
 * https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-universal.html
 */
function targetOf(form: ScheduleForm["form"], { text }: Address, { partition, region, account }: Place) {
  const universal = (action: string) => `arn:${partition}:scheduler:::aws-sdk:${action}`;
  if ("MessageBody" in form)
    return { Arn: universal("sqs:sendMessage"), Input: inputOf({ QueueUrl: text, ...form }) };
  if ("Message" in form)
    return { Arn: universal("sns:publish"), Input: inputOf({ TopicArn: text, ...form }) };
  const { Source, DetailType, Detail } = form;
  const Arn = text.startsWith("arn:")
    ? text
    : `arn:${partition}:events:${region}:${account}:event-bus/${text}`;
  return { Arn, Input: literal(Detail), EventBridgeParameters: { Source, DetailType } };
}

const inputOf = (parameters: object): string => literal(JSON.stringify(parameters));

/**
 * EventBridge Scheduler replaces its keywords, such as `<aws.scheduler.execution-id>`, in any text.
 * https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-context-attributes.html
 */
const literal = (json: string): string => json.replaceAll("<aws.scheduler.", "\\u003caws.scheduler.");
