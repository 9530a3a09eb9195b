const { Kafka, logLevel } = require("kafkajs");

const kafka = new Kafka({
  clientId: "orders",
  brokers: [process.env.BROKER],
  logLevel: logLevel.NOTHING,
  retry: { retries: 0 },
});
const producer = kafka.producer();

exports.handler = async ({ detail }) => {
  await producer.connect();
  await producer.send({
    topic: "orders",
    messages: [{ key: detail.orderId, value: JSON.stringify(detail) }],
  });
};
