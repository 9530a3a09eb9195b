// A server for libraries that know no HTTP, but promise one run and its result for an id that you choose.
import express from "express";
import { type Site, serve } from "./contestant.ts";

/** Runs what has this id, or answers what it answered. */
export type Run = (id: string, body: unknown) => Promise<unknown>;

/** The id has the caller in it, because these libraries ask for ids that are unique in the whole application. */
export function serveKeyed(
  runs: Readonly<Record<"/orders" | "/refunds", Run>>,
  close?: () => unknown,
): Promise<Site> {
  const app = express().use(express.json());
  for (const [path, run] of Object.entries(runs))
    app.post(path, async ({ headers, body }, response) => {
      const key = headers["idempotency-key"];
      if (!key) return void response.status(400).json({});
      try {
        response.status(201).json(await run(`${headers.authorization}-${key}`, body));
      } catch {
        response.status(500).json({});
      }
    });
  return serve(app, close);
}
