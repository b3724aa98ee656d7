import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ANSWER } from '../../load/answer.ts';
import { sendBytes } from './send-bytes.ts';

/**
 * The upstream of the workloads. It reads each request whole before it answers: `/bytes/<n>` with so many bytes, other
 * paths with the answer of all rows. It keeps idle connections open longer than a run takes.
 */
const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  request.resume().once('end', () => {
    const [, bytes] = /\/bytes\/(\d+)$/.exec(request.url ?? '') ?? [];
    if (bytes === undefined) response.end(ANSWER);
    else sendBytes(response, Number(bytes));
  });
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit());
