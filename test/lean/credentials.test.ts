import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { ExpiringCredentials } from "../../lib/lean/container-credentials.ts";
import { foundCredentials, HeldCredentials } from "../../lib/lean/credentials.ts";
import { timeless } from "../kit/time/timeless.ts";
import { CREDENTIALS, canned, clientOf, GET, refuse, succeed } from "./world.ts";

const NOON = Date.UTC(2026, 10, 22, 12);
const MINUTE = 60_000;
const TEN_PAST = "2026-11-22T12:10:00Z";

const set = (name: string, expiration?: Date): ExpiringCredentials => ({
  accessKeyId: name,
  secretAccessKey: "secret",
  ...(expiration && { expiration }),
});

async function agent(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/credentials?role=a`;
}

describe("foundCredentials", () => {
  it("reads those of the environment, with their token if there is one", async () => {
    const env = { AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "secret", AWS_SESSION_TOKEN: "" };

    expect(await foundCredentials(env)).toEqual({ accessKeyId: "AKID", secretAccessKey: "secret" });
    expect(await foundCredentials({ ...env, AWS_SESSION_TOKEN: "token" })).toMatchObject({
      sessionToken: "token",
    });
  });

  it("asks the endpoint of the container, by the token that it has", async () => {
    const asked: unknown[] = [];
    const url = await agent(({ url, headers }, response) => {
      asked.push([url, headers.authorization]);
      response.end(`{"AccessKeyId":"A","SecretAccessKey":"S","Token":"T","Expiration":"${TEN_PAST}"}`);
    });

    const found = await foundCredentials({
      AWS_CONTAINER_CREDENTIALS_FULL_URI: url,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: "Bearer of-the-environment",
    });

    expect(found).toEqual({
      accessKeyId: "A",
      secretAccessKey: "S",
      sessionToken: "T",
      expiration: new Date(TEN_PAST),
    });
    expect(asked).toEqual([["/credentials?role=a", "Bearer of-the-environment"]]);
  });

  it("reads a token from its file each time, since pods are given new ones", async () => {
    const folder = await mkdtemp(join(tmpdir(), "token-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, "token");
    const tokens: unknown[] = [];
    const url = await agent(({ headers }, response) => {
      tokens.push(headers.authorization);
      response.end(`{"AccessKeyId":"A","SecretAccessKey":"S","Token":"T","Expiration":"${TEN_PAST}"}`);
    });
    const env = { AWS_CONTAINER_CREDENTIALS_FULL_URI: url, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file };

    for (const token of ["first", "second\n"]) {
      await writeFile(file, token);
      await foundCredentials(env);
    }

    expect(tokens).toEqual(["first", "second"]);
  });

  it.each([
    "http://example.com/credentials",
    "http://169.254.169.254/latest/meta-data",
    "http://127.0.0.1.example.com/",
    "http://localhost.example.com/",
    "ftp://localhost/",
    "not a URL",
  ])("shows no token to %s", async (url) => {
    const env = { AWS_CONTAINER_CREDENTIALS_FULL_URI: url, AWS_CONTAINER_AUTHORIZATION_TOKEN: "hush" };

    await expect(foundCredentials(env)).rejects.toMatchObject({ name: "CredentialsProviderError" });
    await expect(foundCredentials(env)).rejects.not.toThrow(/hush/);
  });

  it.each([
    ["an error", 500, "{}"],
    ["no JSON", 200, "<html>"],
    ["half a set", 200, '{"AccessKeyId":"A","SecretAccessKey":"S"}'],
    ["a set without an end", 200, '{"AccessKeyId":"A","SecretAccessKey":"S","Token":"T"}'],
    ["a response too large for credentials", 200, "x".repeat(100_000)],
  ])("does not believe %s, and asks three times", async (_, statusCode, body) => {
    let asked = 0;
    const url = await agent((_, response) => {
      asked++;
      response.writeHead(statusCode).end(body);
    });

    await expect(foundCredentials({ AWS_CONTAINER_CREDENTIALS_FULL_URI: url })).rejects.toMatchObject({
      name: "CredentialsProviderError",
    });
    expect(asked).toBe(3);
  });

  it.each<[string, object, string]>([
    [
      "a profile beside keys",
      { AWS_PROFILE: "shop", AWS_ACCESS_KEY_ID: "A", AWS_SECRET_ACCESS_KEY: "S" },
      "AWS_PROFILE is set",
    ],
    [
      "a web identity beside a container's endpoint",
      {
        AWS_WEB_IDENTITY_TOKEN_FILE: "/token",
        AWS_ROLE_ARN: "arn:aws:iam::123456789012:role/a",
        AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: "/role",
      },
      "AWS_WEB_IDENTITY_TOKEN_FILE is set",
    ],
  ])("H94: D2: refuses %s by name if the SDK's chain isn't installed", async (_, env, reason) => {
    vi.doMock("@aws-sdk/credential-provider-node", () => {
      throw new Error("not installed");
    });
    onTestFinished(() => void vi.doUnmock("@aws-sdk/credential-provider-node"));

    await expect(foundCredentials({ HOME: "/nowhere", ...env })).rejects.toMatchObject({
      name: "CredentialsProviderError",
      message: expect.stringContaining(`${reason}, and only the SDK's credential chain can read`),
    });
  });

  it("asks the SDK's chain, if that is installed", async () => {
    process.env.AWS_ACCESS_KEY_ID = "of-the-chain";
    process.env.AWS_SECRET_ACCESS_KEY = "secret";
    onTestFinished(() => {
      delete process.env.AWS_ACCESS_KEY_ID;
      delete process.env.AWS_SECRET_ACCESS_KEY;
    });

    expect(await foundCredentials({})).toMatchObject({ accessKeyId: "of-the-chain" });
  });
});

describe("HeldCredentials", () => {
  it("are asked for once, however many wait for them, and again after a failure", async () => {
    let asked = 0;
    const held = new HeldCredentials(async () => {
      if (++asked === 1) throw new Error("not yet");
      return set("A");
    });

    await expect(Promise.all([held.at(NOON), held.at(NOON)])).rejects.toThrow("not yet");
    await Promise.all([held.at(NOON), held.at(NOON)]);

    expect(asked).toBe(2);
    // At once, without a promise.
    expect(held.at(NOON)).toEqual(set("A"));
  });

  it("are renewed before they expire, while the old ones still serve", async () => {
    const answers = [set("A", new Date(NOON + 10 * MINUTE)), set("B", new Date(NOON + 70 * MINUTE))];
    const held = new HeldCredentials(async () => answers.shift() ?? set("C"));
    await held.at(NOON);

    expect(held.at(NOON + 4 * MINUTE)).toMatchObject({ accessKeyId: "A" });
    expect(held.at(NOON + 6 * MINUTE)).toMatchObject({ accessKeyId: "A" });
    await new Promise((resolve) => setImmediate(resolve));
    expect(held.at(NOON + 6 * MINUTE)).toMatchObject({ accessKeyId: "B" });
  });

  it("are used until they expire if new ones can't be fetched, and no longer", async () => {
    let isGone = false;
    const held = new HeldCredentials(async () => {
      if (isGone) throw new Error("the agent is gone");
      return set("A", new Date(NOON + 10 * MINUTE));
    });
    await held.at(NOON);
    isGone = true;

    expect(held.at(NOON + 9 * MINUTE)).toMatchObject({ accessKeyId: "A" });
    await new Promise((resolve) => setImmediate(resolve));
    await expect(held.at(NOON + 10 * MINUTE)).rejects.toThrow("the agent is gone");
  });

  it("are rejected immediately if a function returns none", async () => {
    const held = new HeldCredentials((async () => undefined) as never);

    await expect(held.at(NOON)).rejects.toMatchObject({ name: "CredentialsProviderError" });
  });
});

describe("LeanDynamoDB's credentials", () => {
  it.each(["ExpiredTokenException", "UnrecognizedClientException"])(
    "are requested again when %s comes, under way as they are",
    async (name) => {
      const names = ["old", "new"];
      const { url, asked } = await canned((response, { headers }) =>
        headers.authorization!.includes("Credential=old/") ? refuse(response, name) : succeed(response),
      );
      const client = clientOf(url, {
        credentials: async () => set(names.length > 1 ? names.shift()! : "new"),
      });

      await Promise.all([client.send("GetItem", GET), client.send("GetItem", GET)]);

      expect(asked).toHaveLength(4);
    },
  );

  it("are requested only once more if all are rejected", async () => {
    const { url, asked } = await canned((response) => refuse(response, "ExpiredTokenException"));

    const sending = clientOf(url, { credentials: CREDENTIALS }).send("GetItem", GET);

    await expect(sending).rejects.toMatchObject({
      name: "ExpiredTokenException",
      $metadata: { attempts: 2 },
    });
    expect(asked).toHaveLength(2);
  });

  it("expire by the service's time, not by a clock that is wrong", async () => {
    let asked = 0;
    const { url } = await canned((response) => {
      response.setHeader("date", new Date(NOON).toUTCString());
      succeed(response);
    });
    const client = clientOf(url, {
      credentials: () => set(`${++asked}`, new Date(NOON + 60 * MINUTE)),
      clock: timeless({ now: () => NOON - 24 * 60 * MINUTE }),
    });

    for (let calls = 0; calls < 3; calls++) await client.send("GetItem", GET);

    expect(asked).toBe(1);
  });
});
