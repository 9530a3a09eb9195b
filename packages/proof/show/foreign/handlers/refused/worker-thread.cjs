const { Worker } = require("node:worker_threads");

exports.handler = (order) =>
  new Promise((resolve, reject) => {
    const worker = new Worker(
      `const { parentPort, workerData } = require("node:worker_threads");
       fetch(workerData.url, { method: "POST", body: workerData.body }).then(
         () => parentPort.postMessage("sent"), (error) => { throw error; });`,
      { eval: true, workerData: { url: `${process.env.PARTNER_URL}/orders`, body: JSON.stringify(order) } },
    );
    worker.on("message", resolve);
    worker.on("error", reject);
  });
