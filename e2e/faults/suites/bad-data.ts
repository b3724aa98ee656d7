import { startConfigWorld, type ConfigWorld } from '../harness/config-world.ts';
import type { FaultSuite } from '../harness/scenario.ts';
import {
  deltaGap,
  poisonedDelta,
  poisonedSnapshot,
  truncatedObject,
  wrongDeltaSignature,
  wrongSignature,
} from '../scenarios/bad-configuration.ts';
import {
  lastGoodChangesTruncated,
  lastGoodNewer,
  lastGoodTruncated,
} from '../scenarios/last-good-file.ts';

/** Configuration that is not to be trusted, in NATS and on disk. */
export const badData: FaultSuite<ConfigWorld> = {
  name: 'configuration that is not to be trusted',
  open: startConfigWorld,
  scenarios: [
    wrongSignature,
    poisonedSnapshot,
    truncatedObject,
    wrongDeltaSignature,
    poisonedDelta,
    deltaGap,
    lastGoodTruncated,
    lastGoodNewer,
    lastGoodChangesTruncated,
  ],
};
