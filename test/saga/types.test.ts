// What the compiler knows of a saga's results. Most of these tests pass if they compile.
import { describe, expect, expectTypeOf, it } from "vitest";
import type { Execution } from "../../lib/core/execution.ts";
import type { SagaStep, SagaStepContext } from "../../lib/saga/definition.ts";
import { saga } from "../../lib/saga/saga.ts";
import type { MemoryWrite } from "../../lib/testing/index.ts";
import { newWorld } from "../core/world.ts";

interface Trip {
  readonly from: string;
  readonly seats: number;
}

const bookFlight = async (from: string) => ({ flight: `${from}-1`, cents: 20_000 });
type Flight = Awaited<ReturnType<typeof bookFlight>>;

const trip = saga("trip", [
  {
    name: "flight",
    run: async ({ input }: SagaStepContext<Trip, MemoryWrite>) => bookFlight(input.from),
    compensate: async ({ result, results, input }) => {
      expectTypeOf(result).toEqualTypeOf<Flight | undefined>();
      expectTypeOf<keyof typeof results>().toBeNever();
      expectTypeOf(input).toEqualTypeOf<Trip>();
    },
  },
  {
    name: "hotel",
    run: async ({ input, results, childKey }) => {
      expectTypeOf(results).toEqualTypeOf<{ readonly flight: Flight }>();
      return { nights: input.seats, id: childKey(), after: results.flight.flight };
    },
    compensate: ({ result, results }) => result?.id ?? results.flight.cents,
    pivot: true,
  },
  { name: "mail", run: ({ results }) => results.hotel.nights + results.flight.cents, retryLater: () => true },
  {
    name: "note",
    run: ({ commit }) => {
      // @ts-expect-error -- not a write of this store: the annotation of the first step says which ones are.
      void ((write: { Put: object }) => commit("noted", { writes: [write] }));
    },
  },
]);

describe("a saga of literal steps", () => {
  it("resolves to the result of each step, with its type", async () => {
    const world = newWorld();
    const work = async (execution: Execution<MemoryWrite>) => {
      const { flight, hotel, mail, note } = await trip.run(execution, { from: "LIS", seats: 2 });
      expectTypeOf(flight).toEqualTypeOf<Flight>();
      expectTypeOf(hotel).toEqualTypeOf<{ nights: number; id: string; after: string }>();
      expectTypeOf(mail).toEqualTypeOf<number>();
      expectTypeOf(note).toBeVoid();
      return [flight.flight, hotel.nights, hotel.after, mail];
    };

    expect(await world.call(work as never)).toEqual(["LIS-1", 2, "LIS-1", 20_002]);
  });

  it("resolves to the same by itself", () => {
    type Alone = Awaited<ReturnType<typeof trip.start>>;

    expectTypeOf<Alone["flight"]>().toEqualTypeOf<Flight>();
    expectTypeOf<Alone["mail"]>().toEqualTypeOf<number>();
  });

  it("refuses another input, a result that isn't there, and a misspelt option", () => {
    void (() => {
      // @ts-expect-error -- `seats` is missing.
      void trip.run({} as Execution<MemoryWrite>, { from: "LIS" });
      // @ts-expect-error -- no step has this name.
      void trip.run({} as Execution<MemoryWrite>, { from: "", seats: 1 }).then(({ car }) => car);
      // @ts-expect-error -- `compensat`
      saga("trip", [{ name: "flight", run: async () => 1, compensat: () => {} }]);
    });
  });

  it("knows the input from whichever step annotates it, such as the last", () => {
    const { run } = saga("trip", [
      { name: "flight", run: async ({ input }) => bookFlight(input.from) },
      {
        name: "mail",
        run: ({ input }: { input: Trip }) => input.seats,
      },
    ]);

    expectTypeOf(run).parameter(1).toEqualTypeOf<Trip>();
    expectTypeOf(run).returns.resolves.toEqualTypeOf<{ readonly flight: Flight; readonly mail: number }>();
  });

  it("knows the types of up to eight steps, and of more none", () => {
    const one = { run: async ({ input }: SagaStepContext<Trip>) => input.seats };
    const eight = saga("trip", [
      { name: "a", ...one },
      { name: "b", ...one },
      { name: "c", ...one },
      { name: "d", ...one },
      { name: "e", ...one },
      { name: "f", ...one },
      { name: "g", run: async ({ results }) => `${results.f}` },
      { name: "h", run: ({ results }) => ({ of: results.g }), compensate: ({ result }) => result?.of },
    ]);
    const nine = saga("trip", [
      { name: "a", ...one },
      { name: "b", ...one },
      { name: "c", ...one },
      { name: "d", ...one },
      { name: "e", ...one },
      { name: "f", ...one },
      { name: "g", ...one },
      { name: "h", ...one },
      { name: "i", ...one },
    ]);

    expectTypeOf(eight.run).returns.resolves.toHaveProperty("h").toEqualTypeOf<{ of: string }>();
    expectTypeOf(eight.run).returns.resolves.toHaveProperty("a").toEqualTypeOf<number>();
    expectTypeOf(nine.run).parameter(1).toEqualTypeOf<Trip>();
    expectTypeOf(nine.run).returns.resolves.toEqualTypeOf<Readonly<Record<string, unknown>>>();
  });
});

describe("a saga whose steps are not known as it is compiled", () => {
  it("has results of type unknown", () => {
    const steps: SagaStep<Trip>[] = [];
    for (const name of ["flight", "hotel"]) {
      steps.push({
        name,
        run: async ({ input, results }) => [input.seats, results.flight],
        compensate: ({ result, input }) => [result, input.from],
      });
    }
    const mapped = ["flight", "hotel"].map((name) => ({
      name,
      run: async ({ input }: SagaStepContext<Trip>) => input.seats,
    }));

    expectTypeOf(saga("trip", steps).run).returns.resolves.toEqualTypeOf<Readonly<Record<string, unknown>>>();
    expectTypeOf(saga("trip", mapped).run).returns.resolves.toEqualTypeOf<
      Readonly<Record<string, unknown>>
    >();
    expectTypeOf(saga("trip", mapped).run).parameter(1).toEqualTypeOf<Trip>();
    expectTypeOf(
      saga("trip", [...mapped, { name: "mail", run: () => 1 }]).run,
    ).returns.resolves.toEqualTypeOf<Readonly<Record<string, unknown>>>();
  });

  it("knows nothing of a step whose name isn't a literal", () => {
    const name: string = "flight";
    const { run } = saga("trip", [
      { name, run: async ({ input }: SagaStepContext<Trip>) => input.seats },
      { name: "mail", run: async () => "sent" },
    ]);

    expectTypeOf(run).returns.resolves.toEqualTypeOf<{ readonly [name: string]: unknown }>();
  });

  it("may be given its input by a type parameter", () => {
    const { run } = saga<Trip, MemoryWrite>("trip", [
      {
        name: "flight",
        run: ({ input, commit, results }) => commit(input.from, { writes: [] }).then(() => results.none),
        compensate: ({ result }) => expectTypeOf(result).toBeUnknown(),
      },
    ]);

    expectTypeOf(run).parameter(1).toEqualTypeOf<Trip>();
    expectTypeOf(run).returns.resolves.toEqualTypeOf<Readonly<Record<string, unknown>>>();
  });
});
