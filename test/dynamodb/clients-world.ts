// The network and AWS as a client sees them: any host name leads to this machine, every signature is verified here, and
// the endpoints of credentials answer too. A client's settings come from the environment and the files of a row.
import { createHmac, hash, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, Agent as HttpAgent, type IncomingMessage, type ServerResponse } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { vi } from "vitest";
import type { Connection } from "../../lib/dynamodb/connection.ts";
import type { ClientOptions } from "../../lib/dynamodb/options.ts";

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Instead of a response: the connection breaks before it, or in the middle of it. */
  readonly breaks?: "before" | "within";
}

/** One request as the service sees it. */
export interface SeenRequest {
  readonly isSecure: boolean;
  readonly host: string;
  readonly path: string;
  readonly target: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly token: string | undefined;
  readonly isVerified: boolean;
  /** The names of the headers that are signed. */
  readonly signed: readonly string[];
  /** All of them, except those that differ each time or with the order of fields in the body. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tries: string | undefined;
  readonly trace: string | undefined;
  readonly userAgent: string | undefined;
  readonly input: unknown;
  readonly date: string;
}

/** By convention, so that the verifier knows each secret. */
export const secretOf = (accessKeyId: string): string => `secret-of-${accessKeyId}`;

/** Every variable that a row may set is absent unless it does. */
const AWS_VARIABLES = /^(AWS_|_X_AMZN_|HOME$)/;

export interface Row {
  readonly env?: Readonly<Record<string, string>>;
  /** The text of the shared files. */
  readonly config?: string;
  readonly credentials?: string;
  /** The first responses of DynamoDB; all others succeed, without content. */
  readonly answers?: readonly Answer[];
}

export class ClientsWorld {
  seen: SeenRequest[] = [];
  #answers: Answer[] = [];
  #restore: (() => void)[] = [];

  async open(): Promise<void> {
    // Without jitter no retry waits.
    vi.spyOn(Math, "random").mockReturnValue(0);
    vi.spyOn(console, "warn").mockReturnValue();
    const ports: number[] = [];
    for (const isSecure of [false, true]) {
      const server = createServer((request, response) => void this.#answer(isSecure, request, response));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      ports.push((server.address() as AddressInfo).port);
      this.#restore.push(() => {
        server.closeAllConnections();
        server.close();
      });
    }
    const agents: { createConnection: unknown }[] = [HttpAgent.prototype, HttpsAgent.prototype] as never;
    for (const [index, agent] of agents.entries()) {
      const own = Object.getOwnPropertyDescriptor(agent, "createConnection");
      agent.createConnection = () => connect(ports[index]!, "127.0.0.1");
      this.#restore.push(() => {
        if (own) Object.defineProperty(agent, "createConnection", own);
        else Reflect.deleteProperty(agent, "createConnection");
      });
    }
  }

  close(): void {
    vi.restoreAllMocks();
    for (const restore of this.#restore) restore();
  }

  /** Runs `act` in a row's environment, and returns the requests that DynamoDB got meanwhile. */
  async during<T>({ env = {}, config, credentials, answers = [] }: Row, act: () => Promise<T>): Promise<T> {
    const folder = mkdtempSync(join(tmpdir(), "clients-"));
    const former = { ...process.env };
    for (const name of Object.keys(process.env)) if (AWS_VARIABLES.test(name)) delete process.env[name];
    const file = (name: string, text = ""): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const token = file("token", "web-identity-token");
    Object.assign(process.env, {
      HOME: folder,
      AWS_CONFIG_FILE: file("config", config),
      AWS_SHARED_CREDENTIALS_FILE: file("credentials", credentials),
    });
    for (const [name, value] of Object.entries(env)) process.env[name] = value.replace("<token>", token);
    this.seen = [];
    this.#answers = [...answers];
    try {
      return await act();
    } finally {
      for (const name of Object.keys(process.env)) if (!(name in former)) delete process.env[name];
      Object.assign(process.env, former);
      rmSync(folder, { recursive: true });
    }
  }

  async #answer(isSecure: boolean, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request).catch(() => undefined);
    if (body === undefined) return;
    const { host = "", ...headers } = request.headers as Record<string, string>;
    if (!headers["x-amz-target"]) return answerCredentials(host, request, body.toString(), response);
    this.seen.push(readRequest(isSecure, host, request, headers, body));
    const { status = 200, breaks, body: text = "{}", headers: more = {} } = this.#answers.shift() ?? {};
    if (breaks === "before") return void request.socket.destroy();
    response.writeHead(status, { "x-amzn-requestid": randomUUID(), ...more });
    if (breaks === undefined) return void response.end(text);
    response.write(text.slice(0, 1));
    setImmediate(() => request.socket.destroy());
  }
}

function readRequest(
  isSecure: boolean,
  host: string,
  request: IncomingMessage,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
): SeenRequest {
  const { accessKeyId, region, isVerified, signed } = verify(request, { host, ...headers }, body);
  const {
    authorization: _,
    "amz-sdk-invocation-id": __,
    "x-amz-date": ___,
    "x-amz-content-sha256": contentHash,
    ...lasting
  } = headers;
  return {
    isSecure,
    host,
    path: request.url ?? "",
    target: headers["x-amz-target"] ?? "",
    region,
    accessKeyId,
    token: headers["x-amz-security-token"],
    isVerified: isVerified && [undefined, hash("sha256", body)].includes(contentHash),
    signed,
    headers: lasting,
    tries: headers["amz-sdk-request"],
    trace: headers["x-amzn-trace-id"],
    userAgent: headers["user-agent"],
    input: JSON.parse(body.toString()),
    date: `${headers["x-amz-date"]}`.slice(0, 11),
  };
}

/** AWS Signature Version 4 by its specification, of whatever headers a request says are signed. */
function verify(request: IncomingMessage, headers: Readonly<Record<string, string>>, body: Buffer) {
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), SignedHeaders=([^,]+), Signature=(\w+)$/.exec(
      `${headers.authorization}`,
    ) ?? [];
  const [, accessKeyId = "", scope = "", names = "", signature] = found;
  const signed = names.split(";");
  const [path = ""] = (request.url ?? "").split("?");
  const canonical = [
    request.method,
    path.split("/").map(encodeURIComponent).join("/"),
    "",
    ...signed.map((name) => `${name}:${headers[name]?.trim().replace(/ +/g, " ")}`),
    "",
    names,
    hash("sha256", body),
  ].join("\n");
  const date = headers["x-amz-date"] ?? "";
  const text = ["AWS4-HMAC-SHA256", date, scope, hash("sha256", canonical)].join("\n");
  let key: string | Buffer = `AWS4${secretOf(accessKeyId)}`;
  for (const part of scope.split("/")) key = createHmac("sha256", key).update(part).digest();
  const mustBeSigned = Object.keys(headers).filter(
    (name) => name === "host" || name === "content-type" || name.startsWith("x-amz-"),
  );
  return {
    accessKeyId,
    signed,
    region: scope.split("/")[1] ?? "",
    isVerified:
      createHmac("sha256", key).update(text).digest("hex") === signature &&
      scope.endsWith("/dynamodb/aws4_request") &&
      scope.startsWith(date.slice(0, 8)) &&
      mustBeSigned.every((name) => signed.includes(name)),
  };
}

/** What STS, the agents of containers and the metadata of an instance answer. */
function answerCredentials(
  host: string,
  { url = "" }: IncomingMessage,
  body: string,
  response: ServerResponse,
): void {
  const set = (name: string) => ({
    AccessKeyId: name,
    SecretAccessKey: secretOf(name),
    Token: `token-of-${name}`,
    SessionToken: `token-of-${name}`,
    Expiration: "2099-01-01T00:00:00.000Z",
    Code: "Success",
    AccountId: "123456789012",
  });
  if (body.includes("AssumeRole")) {
    const fields = Object.entries(set("STS")).map(([name, value]) => `<${name}>${value}</${name}>`);
    const result = `<AssumeRoleWithWebIdentityResult><Credentials>${fields.join("")}</Credentials></AssumeRoleWithWebIdentityResult>`;
    response.setHeader("content-type", "text/xml");
    response.end(
      `<AssumeRoleWithWebIdentityResponse>${result}<ResponseMetadata/></AssumeRoleWithWebIdentityResponse>`,
    );
  } else if (host.startsWith("169.254.169.254")) {
    response.end(url.endsWith("/token") ? "imds" : url.endsWith("/") ? "role" : JSON.stringify(set("EC2")));
  } else if (url.includes("/container")) response.end(JSON.stringify(set("CONTAINER")));
  else response.writeHead(404).end();
}

export type Sdk = typeof import("@aws-sdk/client-dynamodb");

/** The bottom of the peer range, the version that this repository is built with, and the newest one when it was tested. */
export const SDKS = ["client-dynamodb-oldest", "@aws-sdk/client-dynamodb", "client-dynamodb-newest"] as const;

const OWN_SETTINGS = {
  requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
  cacheMiddleware: true,
};

/** Our code over that version of the SDK. */
export async function loadOver(name: string) {
  vi.resetModules();
  vi.doMock("@aws-sdk/client-dynamodb", () => import(name));
  const { sdkConnection } = await import("../../lib/dynamodb/sdk-connection.ts");
  vi.doUnmock("@aws-sdk/client-dynamodb");
  const { makeClient: make } = await import("../../lib/dynamodb/own-client.ts");
  const connect: (options: ClientOptions) => Connection = sdkConnection;
  const sdk = (await import(name)) as Sdk;
  /** With the settings of the client that the store makes itself, and nothing else. */
  const makePlain = () => new sdk.DynamoDBClient(OWN_SETTINGS);
  return { connect, make, sdk, makePlain };
}
