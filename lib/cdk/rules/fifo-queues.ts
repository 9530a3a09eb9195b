// Which services can send to a FIFO queue, and under which conditions. Otherwise a deployment fails, or messages are lost.
import {
  type App,
  objectIn,
  ownerPath,
  QUEUE,
  type Report,
  type Resource,
  type TemplateProperties,
  valueIn,
} from "./app.ts";
import { nameFaults } from "./names.ts";
import { settingsOf } from "./queue-settings.ts";

/** A sender to a queue. */
interface FifoSender {
  /** "the rule Shop/Rule" */
  readonly what: string;
  readonly group: unknown;
  /** Its setting for deduplication; undefined if it has none. */
  readonly deduplication?: unknown;
}

interface FifoTaker {
  readonly what: string;
  readonly why: string;
}

interface Senders {
  /** By the queue, or by the ARN of a queue that this app doesn't define. */
  readonly senders: ReadonlyMap<Resource | string, readonly FifoSender[]>;
  readonly refusing: ReadonlyMap<Resource, readonly FifoTaker[]>;
}

const known = new WeakMap<App, Senders>();

/** Reports senders that can't send to a FIFO queue, and dead-letter queues that it can't move messages to. */
export function findFifo(app: App, queue: Resource, report: Report): void {
  if (queue.cfnResourceType !== QUEUE) return;
  const { isFifo } = settingsOf(app, queue);
  const { senders, refusing } = known.get(app) ?? sendersOf(app);
  const faults = isFifo ? [...sendingFaults(app, queue, senders), ...refusalFaults(queue, refusing)] : [];
  for (const text of nameFaults(app, queue, "QueueName", [QUEUE])) report("refused", "one-name", queue, text);
  for (const text of faults) report("refused", "fifo-senders", queue, text);
  for (const text of redriveFaults(app, queue)) report("refused", "redrive-policy", queue, text);
}

/** For a FIFO queue of another app, only its senders in this app are known. */
export function importedFifoFaults(app: App, queueArn: unknown, path: string): string[] {
  const arn = JSON.stringify(queueArn);
  const { senders } = known.get(app) ?? sendersOf(app);
  return (senders.get(arn) ?? []).flatMap(({ what, group }) =>
    group === undefined ? [ungrouped(`${what} feeds the FIFO queue ${path}`)] : [],
  );
}

/** Faults of FIFO queues of other apps that senders in this app name by a literal ARN. */
export function foreignFifoFaults(app: App): string[] {
  const { senders } = known.get(app) ?? sendersOf(app);
  const arns = [...senders.keys()].filter((key) => typeof key === "string" && /^"arn:.*\.fifo"$/.test(key));
  return arns.flatMap((arn) => importedFifoFaults(app, JSON.parse(arn as string), `${arn}`));
}

const ungrouped = (feeds: string) => `${feeds} without a messageGroupId: set one on its target`;

function sendingFaults(app: App, queue: Resource, senders: Senders["senders"]): string[] {
  const isContentBased = `${app.propertiesOf(queue).ContentBasedDeduplication}` === "true";
  return (senders.get(queue) ?? []).flatMap(({ what, group, deduplication }) => {
    const feeds = `${what} feeds the FIFO queue ${ownerPath(queue)}`;
    return [
      ...(isContentBased || deduplication !== undefined
        ? []
        : [`${feeds}, and EventBridge doesn't send deduplication ids: set contentBasedDeduplication`]),
      ...(group === undefined ? [ungrouped(feeds)] : []),
    ];
  });
}

const refusalFaults = (queue: Resource, refusing: Senders["refusing"]) =>
  (refusing.get(queue) ?? []).map(
    ({ what, why }) => `${what} is the FIFO queue ${ownerPath(queue)}: ${why}, so use a standard queue`,
  );

/** A dead-letter queue's redrive allow policy may reject this queue. */
function redriveFaults(app: App, queue: Resource): string[] {
  const { redrive } = settingsOf(app, queue);
  const deadLetters = redrive && app.targetIn(redrive.deadLetters, QUEUE);
  if (!deadLetters) return [];
  const { redrivePermission, sourceQueueArns } = objectIn(app.propertiesOf(deadLetters).RedriveAllowPolicy);
  const sources = listIn(sourceQueueArns).map((arn) => app.targetsIn(arn));
  // A source ARN that is only known at deployment may be this queue's.
  const isRefused =
    redrivePermission === "denyAll" ||
    (redrivePermission === "byQueue" && sources.every((each) => each.length > 0 && !each.includes(queue)));
  if (!isRefused) return [];
  return [
    `${ownerPath(queue)} has the dead-letter queue ${ownerPath(deadLetters)}, whose redriveAllowPolicy doesn't allow it, so SQS rejects the queue: allow it there, or use another dead-letter queue`,
  ];
}

function sendersOf(app: App): Senders {
  const senders = new Map<Resource | string, FifoSender[]>();
  const refusing = new Map<Resource, FifoTaker[]>();
  const send = (arn: unknown, sender: FifoSender) => {
    const queues = app.targetsIn(arn);
    for (const queue of queues.length > 0 ? queues : [JSON.stringify(arn)]) {
      senders.set(queue, [...(senders.get(queue) ?? []), sender]);
    }
  };
  const refuse = (arn: unknown, taker: FifoTaker) => {
    for (const queue of app.targetsIn(arn)) refusing.set(queue, [...(refusing.get(queue) ?? []), taker]);
  };
  const each = (type: string, read: (properties: TemplateProperties, path: string) => void) => {
    for (const at of app.ofType(type)) read(app.propertiesOf(at), ownerPath(at));
  };
  // https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_SqsParameters.html
  each("AWS::Events::Rule", ({ Targets }, path) => {
    for (const target of listIn(Targets)) {
      const group = valueIn(objectIn(target.SqsParameters), "MessageGroupId");
      send(target.Arn, { what: `the rule ${path}`, group });
      refuse(valueIn(target, "DeadLetterConfig", "Arn"), {
        what: `the dead-letter queue of the rule ${path}`,
        why: "EventBridge doesn't accept a FIFO queue there",
      });
    }
  });
  each("AWS::Scheduler::Schedule", ({ Target }, path) => {
    const target = objectIn(Target);
    const group = valueIn(objectIn(target.SqsParameters), "MessageGroupId");
    send(target.Arn, { what: `the schedule ${path}`, group });
    refuse(valueIn(target, "DeadLetterConfig", "Arn"), {
      what: `the dead-letter queue of the schedule ${path}`,
      why: "EventBridge Scheduler doesn't accept a FIFO queue there",
    });
  });
  each("AWS::Pipes::Pipe", ({ Target, TargetParameters }, path) => {
    const settings = objectIn(valueIn(objectIn(TargetParameters), "SqsQueueParameters"));
    const { MessageGroupId: group, MessageDeduplicationId: deduplication } = settings;
    send(Target, { what: `the pipe ${path}`, group, deduplication });
  });
  each("AWS::SNS::Subscription", ({ Endpoint, TopicArn }, path) => {
    const topic = app.targetIn(TopicArn, "AWS::SNS::Topic");
    if (!topic || `${app.propertiesOf(topic).FifoTopic}` === "true") return;
    const what = `the endpoint of ${path}, a subscription to the standard topic ${ownerPath(topic)},`;
    refuse(Endpoint, { what, why: "SNS only delivers to FIFO queues from FIFO topics" });
  });
  for (const type of ["AWS::S3::Bucket", "Custom::S3BucketNotifications"]) {
    each(type, ({ NotificationConfiguration }, path) => {
      refuse(NotificationConfiguration, {
        what: `a destination of ${path}`,
        why: "S3 can't send to a FIFO queue",
      });
    });
  }
  const takesStandard = "Lambda doesn't accept a FIFO queue there";
  each("AWS::Lambda::Function", ({ DeadLetterConfig }, path) => {
    refuse(valueIn(objectIn(DeadLetterConfig), "TargetArn"), {
      what: `the dead-letter queue of ${path}`,
      why: takesStandard,
    });
  });
  for (const type of ["AWS::Lambda::EventInvokeConfig", "AWS::Lambda::EventSourceMapping"]) {
    each(type, ({ DestinationConfig }, path) => {
      refuse(DestinationConfig, { what: `a destination of ${path}`, why: takesStandard });
    });
  }
  const found = { senders, refusing };
  known.set(app, found);
  return found;
}

const listIn = (value: unknown) => (Array.isArray(value) ? (value as TemplateProperties[]) : []);
