import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestDataPath, type TestDataPath } from '../data-path.ts';
import { startRecordingHttp2Upstream } from './recording-http2-upstream.ts';
import { startRecordingUpstream, type RecordingUpstream } from './recording-upstream.ts';

type UpstreamProtocol = 'http1' | 'http2';

/** A real data plane with one connection to an upstream that records every byte. */
export interface ConformanceRig {
  readonly port: number;
  readonly token: string;
  /** That of the upstream. */
  readonly protocol: UpstreamProtocol;
  readonly gateway: TestDataPath;
  readonly upstream: RecordingUpstream;
  close(): Promise<void>;
}

/** Without retries and with a large quota, so that every request is forwarded once. */
const RIG_ROUTE = {
  retry_count: 0,
  rate_limit: {
    limit: 1_000_000,
    window_seconds: 3600,
    per: 'route',
    on_store_unavailable: 'share',
  },
} as const;

const RIG_ENVIRONMENT = {
  // One connection, so that bytes left by a request would affect the next one.
  MAX_UPSTREAM_CONNECTIONS: '1',
  LINGER_TIMEOUT_MS: '300',
  MAX_HEADER_BYTES: '16384',
  AUTH_FAILURE_LIMIT: '1000000',
} as const;

/** Starts the data plane and the upstream. */
export async function startRig(
  route: Partial<SnapshotRoute> = {},
  environment: Readonly<Record<string, string>> = {},
  protocol: UpstreamProtocol = 'http1',
): Promise<ConformanceRig> {
  const upstream =
    protocol === 'http2' ? await startRecordingHttp2Upstream() : await startRecordingUpstream();
  const token = createTokenSecret();
  const snapshot = testSnapshot({ upstreams: [upstream.url], ...RIG_ROUTE, ...route }, token);
  const services = snapshot.services.map((service) => ({ ...service, protocol }));
  const gateway = await startTestDataPath(
    { upstreams: [] },
    {
      snapshots: [{ ...snapshot, services }],
      environment: { ...RIG_ENVIRONMENT, ...environment },
    },
  );
  return {
    port: gateway.port,
    token,
    protocol,
    gateway,
    upstream,
    async close() {
      await gateway.stop();
      await upstream.close();
    },
  };
}
