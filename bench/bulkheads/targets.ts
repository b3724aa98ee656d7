import { createManagementClient } from '@gateway/local-stack/stack/management-client';
import type { PlaneStack } from '@gateway/testing/processes';
import { pinned, type Cores } from '../lab/cores.ts';
import type { ForkedUpstreams } from '../lab/forked-upstreams.ts';
import { createProxyToken, createRoute } from '../lab/management.ts';

/** Two data planes with the same routes: a sound, a slow and a hung one. */
export interface Targets {
  /** Of the sound route at the measured data plane. */
  readonly url: string;
  readonly pid: number;
  /** Of the upstream of the sound route. */
  readonly soundPid: number;
  readonly port: number;
  /** Of the other data plane, whose callers cost the machine as much but do not use the measured one. */
  readonly otherPort: number;
  /** A token without a scope of the management API. */
  readonly bareToken: string;
}

/**
 * Starts a data plane that has a core for itself, and another one. Their control plane takes calls and never answers
 * them.
 */
export async function startTargets(
  stack: PlaneStack,
  upstreams: ForkedUpstreams,
  cores: Cores,
): Promise<Targets> {
  const controlPlane = await stack.startControlPlane();
  const client = createManagementClient(controlPlane.baseUrl, stack.adminToken);
  const makeRoute = async (name: string, path: string) => {
    const { url, pid } = await upstreams.start();
    const service = { url: url + path, health_check: { interval_ms: 300_000 } };
    await createRoute(client, name, { service, route: { retry_count: 0 } });
    return pid;
  };
  const soundPid = await makeRoute('sound', '');
  await makeRoute('slow', '/slow');
  await makeRoute('hung', '/hung');
  const bareToken = await createProxyToken(client, 'bare', ['none']);
  const hanging = await upstreams.start();
  const env = {
    CONTROL_PLANE_URL: `${hanging.url}/hung`,
    // All callers come from one address here.
    MAX_CONNECTIONS_PER_ADDRESS: '20000',
  };
  const measured = await stack.startDataPlane({ env, launcher: pinned(cores.measured) });
  const other = await stack.startDataPlane({ env });
  return {
    url: `${measured.baseUrl}/v1/proxy/sound`,
    pid: measured.pid,
    soundPid,
    port: portOf(measured.baseUrl),
    otherPort: portOf(other.baseUrl),
    bareToken,
  };
}

const portOf = (url: string) => Number(new URL(url).port);
