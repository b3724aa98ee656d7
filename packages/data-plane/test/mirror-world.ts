import type { SnapshotRoute, Snapshot } from '@gateway/shared/snapshot/schema';
import { eventually } from '@gateway/shared/test/eventually';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestDataPath, type TestDataPath, type TestDataPathOptions } from './data-path.ts';

export type Mirror = NonNullable<SnapshotRoute['mirror']>;

const WHOLE: Mirror = {
  service_id: 'svc_mirror',
  percent: 100,
  max_body_bytes: 1024 * 1024,
  pass_credentials: false,
};

export interface MirroredOptions extends TestDataPathOptions {
  readonly mirror?: Partial<Mirror>;
  readonly route?: Partial<SnapshotRoute>;
}

/** A snapshot whose route has a mirror: the service `svc_mirror` with these upstreams. */
export function mirroredSnapshot(
  upstream: string,
  mirrors: readonly string[],
  secret: string,
  { mirror, route }: Pick<MirroredOptions, 'mirror' | 'route'> = {},
): Snapshot {
  const fields = { upstreams: [upstream], mirror: { ...WHOLE, ...mirror }, ...route };
  const snapshot = testSnapshot(fields, secret);
  const [service] = snapshot.services;
  if (service === undefined) throw new Error('the snapshot has a service');
  const upstreams = mirrors.map((url, index) => {
    return { id: `ups_mirror_${index}`, url, region: null, weight: 1 };
  });
  const second = { ...service, id: 'svc_mirror', name: 'mirror', upstreams };
  return { ...snapshot, services: [service, second] };
}

/** A data path whose route `test` has a mirror. `call` has a token of it. */
export async function startMirrored(
  upstream: string,
  mirrors: readonly string[],
  { mirror, route, ...options }: MirroredOptions = {},
): Promise<TestDataPath & { readonly secret: string; readonly snapshot: Snapshot }> {
  const secret = createTokenSecret();
  const snapshot = mirroredSnapshot(upstream, mirrors, secret, {
    ...(mirror && { mirror }),
    ...(route && { route }),
  });
  const gateway = await startTestDataPath({ upstreams: [] }, { snapshots: [snapshot], ...options });
  return {
    ...gateway,
    secret,
    snapshot,
    call: (path, init = {}) =>
      gateway.call(path, {
        ...init,
        headers: { authorization: `Bearer ${secret}`, ...(init.headers as object) },
      }),
  };
}

/** How many copies ended with this result, or were dropped for this reason. */
export async function copies(
  { registry }: Pick<TestDataPath, 'registry'>,
  label: { readonly result: string } | { readonly reason: string },
): Promise<number> {
  const metric =
    'result' in label
      ? 'gateway_mirrored_requests_total'
      : 'gateway_mirrored_requests_dropped_total';
  const value = 'result' in label ? label.result : label.reason;
  const text = await registry.getSingleMetricAsString(metric);
  const row = text.split('\n').find((line) => line.includes(`="${value}"`));
  return Number(row?.split(' ').at(-1) ?? 0);
}

/** Waits until so many copies ended with this result, or were dropped for this reason. */
export function eventuallyCopies(
  gateway: Pick<TestDataPath, 'registry'>,
  label: Parameters<typeof copies>[1],
  count: number,
): Promise<void> {
  return eventually(async () => {
    const found = await copies(gateway, label);
    if (found !== count) throw new Error(`${found} instead of ${count}: ${JSON.stringify(label)}`);
  });
}
