/**
 * One attack as a process of its own, so that what it costs is not taken for the gateway's. Its one
 * argument is the order as JSON. It ends when the channel to its parent does, or when its time is over.
 */
import {
  ATTACKERS,
  startAttack,
  type Attacker,
  type AttackTarget,
} from '@gateway/local-stack/test/attackers';

export interface AttackOrder {
  readonly name: keyof typeof ATTACKERS;
  readonly target: AttackTarget;
  readonly connections: number;
  readonly againMs: number;
  readonly maxMs: number;
}

const order = JSON.parse(process.argv[2] ?? '') as AttackOrder;
const attacker: Attacker = ATTACKERS[order.name];
const attack = startAttack({ ...order, attacker, again: true });
process.on('message', () => process.send?.({ opened: attack.opened, open: attack.open }));
process.on('disconnect', () => process.exit(0));
setTimeout(() => process.exit(0), order.maxMs).unref();
