import { startLinkWorld, type LinkWorld } from '../harness/link-world.ts';
import type { FaultSuite } from '../harness/scenario.ts';
import { natsSlow, natsSwallowed } from '../scenarios/nats-link.ts';

/** The link to NATS, slow and broken. */
export const links: FaultSuite<LinkWorld> = {
  name: 'a link to NATS that is slow or broken',
  open: startLinkWorld,
  scenarios: [natsSlow, natsSwallowed],
};
