import { describe, expect, it } from "vitest";
import { fakeClock } from "../../../../../lib/testing/fake-clock.ts";
import { S3Model } from "../../../lib/aws/http-services/s3-model.ts";

const MIB = 1024 * 1024;

function given(objects: Readonly<Record<string, string>> = {}) {
  const s3 = new S3Model(fakeClock());
  s3.bucket("shop", objects);
  const ask = (
    method: string,
    query: string,
    body: string | Uint8Array = "",
    headers: Readonly<Record<string, string>> = {},
  ) => {
    const call = s3.read({
      method,
      url: new URL(`https://shop.s3.amazonaws.com/report.csv?${query}`),
      headers: new Headers(headers),
      body: new Uint8Array(Buffer.from(body)),
    });
    return call?.run();
  };
  const create = (headers?: Readonly<Record<string, string>>) =>
    /<UploadId>(.+)<\/UploadId>/.exec(String(ask("POST", "uploads", "", headers)?.body))?.[1] ?? "";
  const part = (id: string, number: number, body: string | Uint8Array) =>
    ask("PUT", `partNumber=${number}&uploadId=${id}`, body)?.headers?.etag ?? "";
  const complete = (
    id: string,
    parts: readonly (readonly [number, string])[],
    headers?: Readonly<Record<string, string>>,
  ) => {
    const named = parts.map(
      ([number, etag]) =>
        `<Part><PartNumber>${number}</PartNumber><ETag>${etag.replaceAll('"', "&quot;")}</ETag></Part>`,
    );
    const xml = `<CompleteMultipartUpload>${named.join("")}</CompleteMultipartUpload>`;
    return ask("POST", `uploadId=${id}`, xml, headers);
  };
  const content = () => Buffer.from(s3.objects("shop").get("report.csv") ?? []).toString();
  return { ask, create, part, complete, content, s3 };
}

describe("an upload in parts", () => {
  it("becomes an object when it is complete, of its latest parts in their order", () => {
    const { ask, create, part, complete, s3 } = given();
    const id = create({ "content-type": "text/csv" });
    const second = part(id, 2, "end");
    part(id, 1, "first try");
    const first = part(id, 1, new Uint8Array(5 * MIB).fill(65));

    expect(s3.objects("shop").size).toBe(0);
    const answer = complete(id, [
      [1, first],
      [2, second],
    ]);

    const etag = /"[\da-f]{32}-2"/;
    expect(answer?.body).toMatch(etag);
    expect(s3.objects("shop").get("report.csv")?.length).toBe(5 * MIB + 3);
    const { headers } = ask("HEAD", "") ?? {};
    expect(headers).toMatchObject({ "content-type": "text/csv", etag: expect.stringMatching(etag) });
  });

  it.each<[string, (each: ReturnType<typeof given>, id: string, etag: string) => unknown]>([
    ["NoSuchUpload", ({ part }) => part("upload-7", 1, "a")],
    ["NoSuchUpload", ({ ask, part }, id) => [ask("DELETE", `uploadId=${id}`), part(id, 2, "b")]],
    ["NoSuchUpload", ({ complete }, id, etag) => [complete(id, [[1, etag]]), complete(id, [[1, etag]])]],
    ["InvalidPart", ({ complete }, id) => complete(id, [[1, '"ab"']])],
    ["InvalidPart", ({ complete }, id, etag) => complete(id, [[2, etag]])],
    ["MalformedXML", ({ complete }, id) => complete(id, [])],
    ["InvalidArgument", ({ part }, id) => part(id, 10_001, "a")],
    [
      "InvalidPartOrder",
      ({ part, complete }, id, etag) =>
        complete(id, [
          [2, part(id, 2, "b")],
          [1, etag],
        ]),
    ],
    [
      "EntityTooSmall",
      ({ part, complete }, id, etag) =>
        complete(id, [
          [1, etag],
          [2, part(id, 2, "b")],
        ]),
    ],
    ["PreconditionFailed", ({ complete }, id, etag) => complete(id, [[1, etag]], { "if-none-match": "*" })],
  ])("is refused as S3 refuses it: %s", (code, ask) => {
    const each = given({ "report.csv": "before" });
    const id = each.create();
    const etag = each.part(id, 1, "a");

    expect(() => ask(each, id, etag)).toThrow(expect.objectContaining({ code }));
  });

  it("can be completed after a refusal, and is then over", () => {
    const { create, part, complete, content } = given({ "report.csv": "before" });
    const id = create();
    const etag = part(id, 1, "after");

    expect(() => complete(id, [[1, etag]], { "if-none-match": "*" })).toThrow();
    complete(id, [[1, etag]]);

    expect(content()).toBe("after");
  });

  it("has no lists and no copies", () => {
    const { ask, create } = given();
    const id = create();

    expect(ask("GET", "uploads")).toBeUndefined();
    expect(ask("GET", `uploadId=${id}`)).toBeUndefined();
    expect(
      ask("PUT", `partNumber=1&uploadId=${id}`, "", { "x-amz-copy-source": "shop/other" }),
    ).toBeUndefined();
  });
});
