/**
 * Sends requests over HTTP/2 with one of the clients, in a process of its own. Its only argument is the order as JSON. For
 * each number from its parent it sends so many requests, and answers with the CPU time that they took. It has the measured
 * core for itself.
 */
import { pinSelf } from '../lab/cores.ts';
import { openSender, type ClientName, type Send } from './senders.ts';

export interface ClientOrder {
  readonly client: ClientName;
  readonly core: number;
  readonly port: number;
  readonly body: string;
  readonly connections: number;
  /** In progress on each connection. */
  readonly streams: number;
}

export interface ClientTurn {
  readonly cpuUsPerRequest: number;
  readonly requestsPerSecond: number;
}

const order = JSON.parse(process.argv[2] ?? '') as ClientOrder;
await pinSelf(String(order.core));
const senders: Send[] = [];
for (let index = 0; index < order.connections; index += 1) {
  senders.push(await openSender(order.client, order.port, order.body));
}

function sendAll(requests: number): Promise<void> {
  let begun = 0;
  let ended = 0;
  return new Promise((resolve) => {
    const next = (send: Send) => {
      if (begun === requests) return;
      begun += 1;
      send(() => {
        ended += 1;
        if (ended === requests) resolve();
        else next(send);
      });
    };
    for (const send of senders)
      for (let stream = 0; stream < order.streams; stream += 1) next(send);
  });
}

process.on('message', (requests: number) => {
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  void sendAll(requests).then(() => {
    const { user, system } = process.cpuUsage(cpu);
    const turn: ClientTurn = {
      cpuUsPerRequest: (user + system) / requests,
      requestsPerSecond: (requests * 1000) / (performance.now() - startMs),
    };
    process.send?.(turn);
  });
});
process.on('disconnect', () => {
  process.exit();
});
process.send?.('ready');
