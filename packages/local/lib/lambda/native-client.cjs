// Stands in for the native part of AWS's runtime client, which would have to be compiled. It speaks the same Runtime
// API by node:http, and is loaded into a function's process before that client.
// https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
const { Agent, request } = require("node:http");
const Module = require("node:module");

const [hostname, port] = (process.env.AWS_LAMBDA_RUNTIME_API ?? "").split(":");
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let lastReport = Promise.resolve();

function call(method, path, body) {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { hostname, port, method, agent, path: `/2018-06-01/runtime/invocation/${path}` },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk) => {
          text += chunk;
        });
        response.on("end", () => resolve({ bodyJson: text, headers: response.headers }));
        response.on("error", reject);
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

function report(id, kind, body) {
  lastReport = call("POST", `${id}/${kind}`, body);
  // It is awaited by the next call of `next`; until then a failure is nobody's unhandled rejection.
  lastReport.catch(() => undefined);
}

const nativeClient = {
  next: async () => {
    await lastReport;
    return call("GET", "next");
  },
  done: (id, body) => report(id, "response", body),
  error: (id, body) => report(id, "error", body),
};

const load = Module._load;
Module._load = function loadWithNativeClient(name, ...rest) {
  return name === "./rapid-client.node" ? nativeClient : load.call(this, name, ...rest);
};
