import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { rawCall, type RawRequest } from '@gateway/shared/test/raw-client';
import type { RawResponse } from '@gateway/shared/test/raw-response';
import { startRawUpstream } from '@gateway/shared/test/upstream';
import { startTestDataPath, type TestDataPath } from './data-path.ts';

export const BY_NAME: RawRequest = { target: '/v1/proxy/test/docs/1' };
export const BY_HOST: RawRequest = { target: '/docs/1', lines: ['Host: api.test'] };
const ON_HOST: SnapshotRoute['match'] = [{ hosts: ['api.test'], paths: [], headers: [] }];
/** More than a property with FUZZ_TIMES sends. */
const NO_LIMIT: SnapshotRoute['rate_limit'] = {
  limit: 1_000_000_000,
  window_seconds: 3600,
  per: 'route',
  on_store_unavailable: 'share',
};

export interface MappedRoute {
  readonly gateway: TestDataPath;
  /** The heads that the upstream got. */
  readonly heads: readonly string[];
  /**
   * The response to a request to which the upstream answers with these lines, in which `{up}` is its host and port. Without
   * a status line it is 200.
   */
  readonly answer: (lines: readonly string[], request?: RawRequest) => Promise<RawResponse>;
  stop(): Promise<void>;
}

export interface MappedSetting {
  readonly basePath?: string;
  readonly route?: Partial<SnapshotRoute>;
  readonly environment?: Readonly<Record<string, string>>;
}

/** A gateway with a route that maps addresses, called by name or on the host `api.test`, and one upstream. */
export async function startMappedRoute({
  basePath = '',
  route = {},
  environment = {},
}: MappedSetting = {}): Promise<MappedRoute> {
  let lines: readonly string[] = [];
  const heads: string[] = [];
  const upstream = await startRawUpstream((socket) => {
    socket.on('data', (bytes) => {
      heads.push(bytes.toString('latin1'));
      const own = lines.map((line) => line.replaceAll('{up}', new URL(upstream.url).host));
      const head = own[0]?.startsWith('HTTP/') === true ? own : ['HTTP/1.1 200 OK', ...own];
      const body = head.some((line) => line.startsWith('HTTP/1.1 101'))
        ? []
        : ['Content-Length: 2'];
      socket.write([...head, ...body, '', body.length === 0 ? '' : 'ok'].join('\r\n'), 'latin1');
    });
  });
  const gateway = await startTestDataPath(
    {
      upstreams: [upstream.url + basePath],
      match: ON_HOST,
      locations: 'map',
      rate_limit: NO_LIMIT,
      ...route,
    },
    { environment },
  );
  return {
    gateway,
    heads,
    answer(answerLines, request = BY_NAME) {
      lines = answerLines;
      return rawCall(gateway.port, request, gateway.token);
    },
    async stop() {
      await gateway.stop();
      await upstream.close();
    },
  };
}

/** Every value of a field, unchanged. */
export function valuesOf({ rawHeaders }: RawResponse, name: string): string[] {
  return rawHeaders.filter(
    (_text, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name,
  );
}
