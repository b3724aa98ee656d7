import { createPlaneStack, type PlaneStack } from '@gateway/local-stack/test/processes';
import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { complete, restartMs } from './start-group.ts';

const testTimeoutMs = 60_000;
const MISSING = 'the configuration is not completely loaded';

const readinessSchema = z.object({ status: z.string(), reasons: z.array(z.string()) });

describe('a group of two workers before there is a configuration', () => {
  let stack: PlaneStack;
  beforeAll(async () => {
    stack = await createPlaneStack();
  }, testTimeoutMs);
  afterAll(() => stack.close());

  it(
    'gives connections to the first worker only: the second one waits, and refuses nothing that the first one serves',
    async () => {
      const group = await stack.startDataPlane({ env: { WORKERS: '2' }, waitForReady: false });
      await eventually(
        async () => {
          const response = await fetch(`${group.adminUrl}/readyz`);
          const { status, reasons } = readinessSchema.parse(await response.json());
          // The second worker has opened its data path, and nothing but the configuration is missing.
          const ofTheSecond = reasons.filter((reason) => reason.startsWith('worker 2: '));
          expect([status, ...ofTheSecond]).toEqual([
            'not_ready',
            `worker 2: ${MISSING}`,
            'worker 2: not connected to NATS: the configuration may be old',
          ]);
          expect(reasons).toContain(`worker 1: ${MISSING}`);
          expect(reasons).toContain('1 of 2 workers do not serve');
        },
        { deadlineMs: restartMs },
      );
      await stack.startControlPlane();
      await complete(group);
    },
    testTimeoutMs,
  );
});
