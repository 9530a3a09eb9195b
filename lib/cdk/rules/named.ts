// Finds resources of an app by a literal name or ARN, as imports use them.
import type { App, Resource } from "./app.ts";

/** The property with the physical name of a resource, and the service in its ARN. */
const NAMES: Readonly<Record<string, readonly [service: string, property: string]>> = {
  "AWS::DynamoDB::GlobalTable": ["dynamodb", "TableName"],
  "AWS::DynamoDB::Table": ["dynamodb", "TableName"],
  "AWS::Events::EventBus": ["events", "Name"],
  "AWS::Kinesis::Stream": ["kinesis", "Name"],
  "AWS::Lambda::Function": ["lambda", "FunctionName"],
  "AWS::SNS::Topic": ["sns", "TopicName"],
  "AWS::SQS::Queue": ["sqs", "QueueName"],
  "AWS::StepFunctions::StateMachine": ["states", "StateMachineName"],
};

export const NAMED_TYPES = Object.keys(NAMES);

/** The parts of "arn:aws:lambda:eu-west-1:111111111111:function:pay:live". Parts that are only known at deployment are "?". */
const ARN =
  /arn:[^:\s"]*:([a-z]+):([^:\s"]*):([^:\s"]*):(?:(?:function:|stateMachine:|table\/|stream\/|event-bus\/))?([\w.-]+)/g;

/** The physical name of a resource in a template, if it's a literal. */
export function nameIn(
  resource: Resource,
  properties: Readonly<Record<string, unknown>>,
): string | undefined {
  const [, property = ""] = NAMES[resource.cfnResourceType] ?? [];
  const name = properties[property];
  return typeof name === "string" ? name : undefined;
}

/** All named resources of an app, by service. */
export class NamedResources {
  readonly #app: Pick<App, "placeOf">;
  readonly #byName = new Map<string, Resource[]>();

  constructor(app: Pick<App, "placeOf">) {
    this.#app = app;
  }

  add(resource: Resource, name: string): void {
    const [service] = NAMES[resource.cfnResourceType] ?? [];
    const key = `${service} ${name}`;
    this.#byName.set(key, [...(this.#byName.get(key) ?? []), resource]);
  }

  /** The resources that ARNs in a text name. A name that several stages have without a fixed account or region matches none. */
  byArn(text: string): Resource[] {
    if (this.#byName.size === 0) return [];
    return [...text.matchAll(ARN)].flatMap(([, service = "", region = "", account = "", name = ""]) => {
      const found = this.#find(service, name).filter((each) => {
        const place = this.#app.placeOf(each);
        return isSame(place.region, region) && isSame(place.account, account);
      });
      return new Set(found.map((each) => this.#app.placeOf(each).stage)).size > 1 ? [] : found;
    });
  }

  /** A bare name refers to a resource in the same stage, account and region. */
  byName(service: string, name: string, near: Resource): Resource[] {
    const own = this.#app.placeOf(near);
    return this.#find(service, name).filter((each) => {
      const { region, account, stage } = this.#app.placeOf(each);
      return region === own.region && account === own.account && stage === own.stage;
    });
  }

  #find = (service: string, name: string) => this.#byName.get(`${service} ${name}`) ?? [];
}

const isSame = (own: string | undefined, named: string) =>
  named === "?" || own === undefined || own === named;

/** A template value as text, with its joined parts concatenated. */
export function flatText(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return "";
  const {
    "Fn::Join": joined,
    "Fn::Sub": substituted,
    "Fn::Split": split,
    "Fn::Select": selected,
    Ref,
  } = value as Readonly<Record<string, unknown>>;
  if (Array.isArray(joined)) {
    const [separator, parts] = joined as [string, unknown];
    return Array.isArray(parts) ? parts.map(flatText).join(separator) : "?";
  }
  if (substituted !== undefined) return String([substituted].flat()[0]).replace(/\$\{[^}]*\}/g, "?");
  // An import extracts the name from an ARN.
  const inner = split ?? selected;
  if (inner !== undefined) return Array.isArray(inner) ? flatText(inner.at(-1)) : "?";
  if (Ref !== undefined || Object.keys(value).some((name) => name.startsWith("Fn::"))) return "?";
  return Object.values(value).map(flatText).join("\n");
}
