import http from "node:http";
import https, { get, request } from "node:https";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, it } from "vitest";
import { removePatches } from "../../lib/simulator/patches/install.ts";
import { faultsOn, givenAws } from "./given.ts";

afterAll(removePatches);

/** Posts as libraries do: writes, ends, reads. */
function post(origin: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port, protocol } = new URL(origin);
    const asked = (protocol === "http:" ? http : https).request(
      { hostname, port, path: "/charges?a=1", method: "post", headers: { "X-Key": "1" }, auth: "me:secret" },
      (response) => {
        text(response).then(
          (answer) => resolve(`${response.statusCode} ${response.headers["x-a"]} ${answer}`),
          reject,
        );
      },
    );
    asked.setHeader("content-type", "text/plain");
    asked.once("error", reject);
    asked.write(body.slice(0, 2));
    asked.end(body.slice(2));
  });
}

describe("H78: node:http in a simulation", () => {
  it("reaches a served origin, is seen, and uses virtual time", async () => {
    const aws = givenAws({ latencyMs: { http: 500 } });
    aws.serve("https://api.example", async (asked) => {
      const { method, url, headers } = asked;
      const received = [method, url, headers.get("x-key"), headers.get("authorization"), await asked.text()];
      return new Response(received.join(" "), { status: 201, headers: { "X-A": "b" } });
    });
    const fn = aws.lambda(async () => [Date.now(), await post("https://api.example", "hello"), Date.now()]);

    const invocation = await aws.run(() => fn.invoke({}));
    const [from, answer, to] = (invocation as unknown as { value: [number, string, number] }).value;

    expect(answer).toBe("201 b POST https://api.example/charges?a=1 1 Basic bWU6c2VjcmV0 hello");
    expect(to - from).toBe(500);
    expect(aws.traceText()).toContain("http POST https://api.example/charges");
  });

  it("fails with an error that names an origin that isn't served, and sends nothing anywhere", async () => {
    const aws = givenAws();
    const fn = aws.lambda(() => post("http://localhost:9999", "hello"));

    const invocation = await aws.run(() => fn.invoke({}));

    expect(invocation).toMatchObject({ outcome: "threw" });
    expect(String((invocation as { error?: unknown }).error)).toContain('serve("http://localhost:9999"');
  });

  it("meets faults: a broken connection is an error, a missing response a timeout", async () => {
    const aws = givenAws();
    aws.serve("https://api.example", () => new Response("done"));
    aws.faults = faultsOn(() => true, { kind: "lost-answer" }, { kind: "unanswered" });
    const fn = aws.lambda(async () => {
      const broken = await post("https://api.example", "1").catch((error) => error.code);
      const late = await new Promise((resolve) => {
        const asked = request("https://api.example/charges", { timeout: 2000 }, () => resolve("answered"));
        asked.once("timeout", () => asked.destroy(new Error("too late")));
        asked.once("error", (error) => resolve(error.message));
        asked.end();
      });
      const read = await new Promise((resolve) => {
        get(new URL("https://api.example/charges"), (response) => resolve(text(response)));
      });
      return [broken, late, read];
    });

    const invocation = await aws.run(() => fn.invoke({}));

    expect(invocation).toMatchObject({ value: ["ECONNRESET", "too late", "done"] });
  });

  it("is Node's own outside of it", async () => {
    givenAws();
    const server = http.createServer((_, response) => response.end("real"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };

    expect(await post(`http://127.0.0.1:${port}`, "hello")).toContain("real");
    server.close();
  });
});
