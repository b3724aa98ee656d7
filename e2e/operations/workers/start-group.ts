import { eventually } from '@gateway/shared/test/eventually';
import { expect } from '@jest/globals';
import type { Gateway } from '../../harness/gateway.ts';
import { startLoad, type Load } from '../../harness/load.ts';
import { metricOf } from './group.ts';

const WORKERS = 2;
/** How long a group may take to replace a worker. */
export const restartMs = 20_000;

export type Group = Awaited<ReturnType<Gateway['stack']['startDataPlane']>>;

export interface GroupOptions {
  readonly name: string;
  readonly env?: Record<string, string>;
  /** A command that starts the data plane. */
  readonly launcher?: readonly string[];
}

/** Starts a data plane with two workers. Resolves when it is complete. */
export async function startGroup(
  gateway: Gateway,
  { name, env = {}, launcher = [] }: GroupOptions,
): Promise<Group> {
  const started = await gateway.stack.startDataPlane({
    name,
    launcher,
    env: { WORKERS: String(WORKERS), DRAIN_GRACE_MS: '200', ...env },
  });
  await complete(started);
  return started;
}

/** Resolves when all workers are ready and each counts the others as live. */
export async function complete({ adminUrl }: Group): Promise<void> {
  await eventually(
    async () => {
      const response = await fetch(`${adminUrl}/readyz`);
      expect(await response.json()).toEqual({ status: 'ready', reasons: [] });
      for (const worker of ['1', '2']) {
        const live = await metricOf(adminUrl, 'gateway_live_data_planes', worker);
        expect(live).toBeGreaterThanOrEqual(WORKERS);
      }
    },
    { deadlineMs: restartMs },
  );
}

/** Eight callers of a route, until `ended` returns true or a call fails. */
export function loadGroup(
  { baseUrl }: Group,
  token: string,
  route: string,
  ended: () => boolean = () => false,
): Load {
  return startLoad({
    url: `${baseUrl}/v1/proxy/${route}`,
    token,
    callers: 8,
    maxCalls: 5000,
    body: () => ({}),
    ended,
  });
}
