// The load of docs/proof/benchmarks.md, "Servers under load", for k6 (https://k6.io). There are 50 callers for a minute. Each request has a
// key of its own, and every tenth is sent twice. Give the bare handler first, then the same with onceonly. Compare p(95), p(99) and http_reqs.
//
//   k6 run -e URL=http://127.0.0.1:3000/work/50 packages/proof/show/k6/idempotency.js

import { check } from "k6";
import exec from "k6/execution";
import http from "k6/http";
import { Counter, Trend } from "k6/metrics";

const url = __ENV.URL || "http://127.0.0.1:3000/work/50";

export const options = {
  scenarios: {
    callers: {
      executor: "constant-vus",
      vus: Number(__ENV.CALLERS || 50),
      duration: `${__ENV.SECONDS || 60}s`,
    },
  },
  summaryTrendStats: ["avg", "med", "p(95)", "p(99)", "max"],
  thresholds: { checks: ["rate==1"] },
};

const first = new Trend("first_run", true);
const duplicate = new Trend("duplicate", true);
const others = new Counter("other_answers");

// A second run of this script has other keys.
const run = `${Date.now()}-${Math.random()}`;

function post(key) {
  const headers = { "content-type": "application/json", "idempotency-key": key };
  return http.post(url, JSON.stringify({ item: "book", key }), { headers });
}

// biome-ignore lint/style/noDefaultExport: k6 asks for it.
export default function () {
  const request = exec.scenario.iterationInTest;
  const key = `${run}-${request}`;
  const answer = post(key);
  first.add(answer.timings.duration);
  check(answer, { "answered 2xx": ({ status }) => status >= 200 && status < 300 });
  if (request % 10 !== 0 || __ENV.DUPLICATES === "0") return;
  const again = post(key);
  duplicate.add(again.timings.duration);
  const isSame = again.status === answer.status && again.body === answer.body;
  if (!isSame) others.add(1);
  check(again, { "a duplicate is answered alike": () => isSame });
}
