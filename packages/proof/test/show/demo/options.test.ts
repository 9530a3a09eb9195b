import { describe, expect, it, test } from "vitest";
import { DEFAULTS, readOptions } from "../../../show/demo/options.ts";

describe("readOptions", () => {
  it("uses the defaults for missing options", () => {
    expect(readOptions([])).toEqual({ ...DEFAULTS, without: false });
  });

  it("reads each option", () => {
    const options = readOptions(["--orders", "7", "--duplicates=2", "--seed", "0", "--app", "elsewhere"]);

    expect(options).toEqual({ orders: 7, duplicates: 2, seed: 0, without: false, app: "elsewhere" });
    expect(readOptions(["--html", "run.html"])).toMatchObject({ html: "run.html" });
    expect(readOptions(["--without"])).toMatchObject({ without: true });
  });

  it("asks for help by --help and -h", () => {
    expect([readOptions(["--help"]), readOptions(["-h"])]).toEqual(["help", "help"]);
  });

  test.each([
    [["--orders", "0"], '--orders must be a whole number from 1 to 10000; got "0"'],
    [["--orders", "12.5"], '--orders must be a whole number from 1 to 10000; got "12.5"'],
    [["--duplicates", "many"], '--duplicates must be a whole number from 1 to 12; got "many"'],
    [["--seed=-1"], '--seed must be a whole number from 0 to 4294967295; got "-1"'],
    [
      ["--without", "--app", "mine"],
      "--without runs the functions of the sample: give either --without or --app",
    ],
    [["--html", ""], "--html takes the name of a file"],
    [["--seed", ""], '--seed must be a whole number from 0 to 4294967295; got ""'],
  ])("refuses %j by option, rule and value", (args, message) => {
    expect(() => readOptions(args)).toThrow(message);
  });

  test.each([[["--order", "3"]], [["--orders"]], [["3"]]])("refuses %j", (args) => {
    expect(() => readOptions(args)).toThrow();
  });
});
