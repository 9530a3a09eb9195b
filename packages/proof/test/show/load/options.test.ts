import { readFileSync } from "node:fs";
import { describe, expect, it, test } from "vitest";
import { DEFAULTS, readOptions, USAGE } from "../../../show/load/options.ts";

describe("readOptions", () => {
  it("takes the defaults for what is not given", () => {
    expect(readOptions([])).toEqual({ ...DEFAULTS, target: { kind: "own", faults: false } });
  });

  it("reads each option for a sample of its own", () => {
    const args =
      "--orders 7 --duplicates=2 --hot 0 --seed 9 --connections 3 --seconds 5 --app elsewhere --faults";

    expect(readOptions(args.split(" "))).toEqual({
      orders: 7,
      duplicates: 2,
      hot: 0,
      seed: 9,
      connections: 3,
      seconds: 5,
      target: { kind: "own", app: "elsewhere", faults: true },
    });
  });

  it.each(["http://localhost:3000", "http://127.0.0.1:3000", "http://127.8.0.1", "http://[::1]:3000"])(
    "reads %s, and of the addresses of engines what leads to them",
    (url) => {
      const path = "/000000000000/Sample-Payments.fifo";

      expect(readOptions(["--url", `${url}/`, "--dynamodb", url, "--sqs", url + path])).toEqual({
        ...DEFAULTS,
        target: { kind: "running", url, dynamodb: url, sqs: url },
      });
    },
  );

  it("has its defaults in docs/reference/local.md, and all its options there and in the usage", () => {
    const guide = readFileSync(new URL("../../../../../docs/reference/local.md", import.meta.url), "utf8");

    for (const [name, value] of Object.entries(DEFAULTS))
      expect(guide).toContain(`| \`--${name}\` | ${value} |`);
    for (const name of [...Object.keys(DEFAULTS), "faults", "app", "url", "dynamodb", "sqs"]) {
      expect(guide).toMatch(new RegExp(`^\\| .*\`--${name}\``, "m"));
      expect(USAGE).toMatch(new RegExp(`^  --${name} `, "m"));
    }
  });

  it("asks for help by --help and -h", () => {
    expect([readOptions(["--help"]), readOptions(["-h"])]).toEqual(["help", "help"]);
  });

  test.each([
    "http://example.com",
    "https://127.0.0.1:3000",
    "http://127.0.0.1.example.com",
    "http://localhost@example.com",
    "http://0.0.0.0:3000",
    "http://192.168.0.1",
    "localhost:3000",
    "",
  ])("refuses to send load to %j", (url) => {
    const rule = "must be http:// and lead to this machine (localhost, 127.x.x.x or [::1])";

    expect(() => readOptions(["--url", url])).toThrow(`--url ${rule}; got "${url}"`);
    expect(() => readOptions(["--url", "http://127.0.0.1:3000", "--dynamodb", url])).toThrow(
      `--dynamodb ${rule}; got "${url}"`,
    );
  });

  test.each([
    [["--orders", "0"], '--orders must be a whole number from 1 to 10000; got "0"'],
    [["--duplicates", "51"], '--duplicates must be a whole number from 0 to 50; got "51"'],
    [["--connections", "many"], '--connections must be a whole number from 1 to 128; got "many"'],
    [["--hot", "100"], '--hot must be a whole number from 0 to 80; got "100"'],
    [["--seed=-1"], '--seed must be a whole number from 0 to 4294967295; got "-1"'],
    [["--seconds", ""], '--seconds must be a whole number from 1 to 3600; got ""'],
    [
      ["--orders", "10000", "--duplicates", "50"],
      "--orders, --duplicates and --hot may make at most 100000 requests; got 650000",
    ],
    [["--sqs", "http://127.0.0.1:1"], "give its --url, too"],
    [["--url", "http://127.0.0.1:1", "--faults"], "leave out --url"],
    [["--url", "http://127.0.0.1:1", "--app", "elsewhere"], "leave out --url"],
  ])("refuses %j by option, rule and value", (args, message) => {
    expect(() => readOptions(args)).toThrow(message);
  });

  test.each([[["--order", "3"]], [["--orders"]], [["3"]]])("refuses %j", (args) => {
    expect(() => readOptions(args)).toThrow();
  });
});
