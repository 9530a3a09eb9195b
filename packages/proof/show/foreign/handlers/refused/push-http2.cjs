const http2 = require("node:http2");

exports.handler = ({ device, text }) =>
  new Promise((resolve, reject) => {
    const session = http2.connect(process.env.PUSH_URL);
    session.on("error", reject);
    const request = session.request({ ":method": "POST", ":path": `/3/device/${device}` });
    request.on("response", (headers) => resolve({ status: headers[":status"] }));
    request.on("error", reject);
    request.end(JSON.stringify({ aps: { alert: text } }));
  });
