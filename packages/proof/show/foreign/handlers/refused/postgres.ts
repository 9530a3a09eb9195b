import type { APIGatewayProxyHandlerV2 } from "aws-lambda";
import pg from "pg";

const pool = new pg.Pool({ host: process.env.PGHOST, user: "shop", max: 1 });

export const handler: APIGatewayProxyHandlerV2 = async (event) => {
  const { orderId, amount } = JSON.parse(event.body ?? "{}");
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    await client.query("INSERT INTO orders (id, amount) VALUES ($1, $2)", [orderId, amount]);
    await client.query("UPDATE totals SET amount = amount + $1", [amount]);
    await client.query("COMMIT");
    return { statusCode: 201, body: JSON.stringify({ orderId }) };
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  } finally {
    client.release();
  }
};
