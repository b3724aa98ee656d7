import { runWrk } from '../load/wrk.ts';
import { gateway } from '../peers/gateway.ts';
import { oneRoute } from '../peers/gateway-configuration.ts';
import { haproxy, nginx } from '../peers/servers.ts';
import type { Workload } from './workload.ts';

const SECONDS = 2;
const RETRIES = 3;
const PATH = '/failing';
/** A ten-thousandth fails four times; the retry budget of the gateway may refuse a few more. */
const MAX_FAILED_SHARE = 0.005;

const route = {
  retry_count: RETRIES,
  retry: { on_statuses: [503], backoff_ms: 0, unsafe_methods: 'always' },
};

/** An upstream that answers a tenth of the requests with 503. Caddy retries no response, so it has no row. */
export const retries: Workload = {
  name: 'retries',
  unit: 'request',
  description:
    'The upstream answers a tenth of the requests, at random, with 503; each proxy retries up to three times without ' +
    'a pause. A ten-thousandth of the requests fails four times. Only the gateway limits retries by a budget.',
  upstream: 'nginx',
  ownFigure: { head: 'failed', format: (share) => `${(share * 100).toFixed(2)} %` },
  peers: [
    // nginx tries each server of a group once.
    nginx({
      nginx: {
        path: PATH,
        servers: RETRIES + 1,
        location: 'proxy_next_upstream error timeout http_503 non_idempotent;',
      },
    }),
    haproxy({
      haproxy: () => ({
        frontend: `http-request set-path ${PATH}`,
        backend: `retries ${RETRIES}\n  retry-on 503`,
      }),
    }),
    gateway({ configure: oneRoute({ route, path: PATH }) }),
  ],
  loads: [
    {
      name: '10 % of responses are 503',
      async run(peer, part, { signal }) {
        const outcome = await runWrk(peer, { seconds: Math.ceil(SECONDS * part) }, signal);
        const share = outcome.failed / outcome.units;
        const failed = share > MAX_FAILED_SHARE ? outcome.failed : 0;
        return { ...outcome, failed, ownFigure: share };
      },
    },
  ],
};
