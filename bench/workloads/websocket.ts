import { echoMessages } from './load/echo-messages.ts';
import { proxies, type Workload, type WorkloadLoad } from './workload.ts';

const KIB = 1024;

/** Messages that an upstream sends back over WebSockets. */
export const websocket: Workload = {
  name: 'websocket',
  unit: 'message',
  description:
    '32 WebSockets, each with one message under way, which the upstream sends back: a message passes the proxy twice. ' +
    'p50 and p99 are those of both ways.',
  upstream: 'node',
  peers: proxies(),
  loads: [messages('100 B', 100, 16_000), messages('64 KiB', 64 * KIB, 2_000)],
};

function messages(name: string, bytes: number, count: number): WorkloadLoad {
  return {
    name,
    run(peer, part, { signal }) {
      const load = { bytes, messages: Math.round(count * part), connections: 32, signal };
      return echoMessages({ ...peer, ...load });
    },
  };
}
