import { startConfigWorld, type ConfigWorld } from '../harness/config-world.ts';
import type { FaultSuite } from '../harness/scenario.ts';
import {
  deltaGap,
  uncompilableDelta,
  uncompilableSnapshot,
  truncatedObject,
  wrongDeltaSignature,
  wrongSignature,
} from '../scenarios/bad-configuration.ts';
import {
  lastGoodChangesTruncated,
  lastGoodNewer,
  lastGoodTruncated,
} from '../scenarios/last-good-file.ts';

/** Untrusted configuration, in NATS and on disk. */
export const badData: FaultSuite<ConfigWorld> = {
  name: 'untrusted configuration',
  open: startConfigWorld,
  scenarios: [
    wrongSignature,
    uncompilableSnapshot,
    truncatedObject,
    wrongDeltaSignature,
    uncompilableDelta,
    deltaGap,
    lastGoodTruncated,
    lastGoodNewer,
    lastGoodChangesTruncated,
  ],
};
