/**
 * Runs one attack in a process of its own, so that its cost does not count as the gateway's. The only argument is the
 * order as JSON. The process ends when the channel to its parent closes, or after `maxMs`.
 */
import { ATTACKERS, startAttack, type AttackTarget } from '@gateway/testing/attackers';

export interface AttackOrder {
  readonly name: keyof typeof ATTACKERS;
  readonly target: AttackTarget;
  readonly connections: number;
  /** How long after its end a connection is opened again. */
  readonly againMs: number;
  readonly maxMs: number;
}

const order = JSON.parse(process.argv[2] ?? '') as AttackOrder;
startAttack({ ...order, attacker: ATTACKERS[order.name], again: true });
process.on('disconnect', () => process.exit(0));
setTimeout(() => process.exit(0), order.maxMs).unref();
