// A payment gateway that honours idempotency keys: one charge for each, whatever becomes of its answers.
import type { Simulator } from "../../../packages/explorer/lib/simulator/simulator.ts";
import { GATEWAY } from "./environment.ts";

interface Charge {
  readonly id: string;
  readonly orderId: string;
}

export class Gateway {
  /** By idempotency key. */
  readonly charges = new Map<string, Charge>();

  constructor(aws: Simulator) {
    aws.serve(GATEWAY, async (request) => {
      const key = request.headers.get("idempotency-key") ?? "";
      const { orderId } = (await request.json()) as { orderId: string };
      const charge = this.charges.get(key) ?? { id: `charge-${this.charges.size + 1}`, orderId };
      this.charges.set(key, charge);
      return Response.json({ chargeId: charge.id }, { status: 201 });
    });
  }
}
