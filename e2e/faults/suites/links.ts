import { startLinkWorld, type LinkWorld } from '../harness/link-world.ts';
import type { FaultSuite } from '../harness/scenario.ts';
import { natsSlow, natsSwallowed } from '../scenarios/nats-link.ts';

/** The link to NATS is slow or broken. */
export const links: FaultSuite<LinkWorld> = {
  name: 'slow or broken link to NATS',
  open: startLinkWorld,
  scenarios: [natsSlow, natsSwallowed],
};
