import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startTokenIssuer } from '@gateway/shared/test/token-issuer';
import { startUpstream } from '@gateway/shared/test/upstream';
import { decodeJwt } from 'jose';
import { startTestDataPath } from '../../test/data-path.ts';
import type { Fields } from '../../test/refusal-shapes.ts';
import { authOfEachType, MISSING, refusalWorld } from '../../test/refusal-world.ts';

const opened = closeAfterEach();

/** What the server sends to a caller that closes its sending side with its request; varying values are left out. */
async function answerToHalfClosed(port: number, route: string, fields: Fields): Promise<string> {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const head = `GET /v1/proxy/${route} HTTP/1.1\r\nhost: a\r\nx-gateway-environment: production\r\n`;
  socket.end(`${head}${lines.join('')}\r\n`);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks)
    .toString('latin1')
    .replace(/^(x-request-id|x-gateway-latency|x-ratelimit-remaining|date):.*$/gim, '$1:')
    .replace(/req_[0-9a-z]{26}/, 'req_');
}

function namesIssuer({ authorization = '' }: Fields, issuer: string): boolean {
  try {
    return decodeJwt(authorization.replace('Bearer ', '')).iss === issuer;
  } catch {
    return false;
  }
}

describe('a caller that closes its sending side with its request', () => {
  it('gets the same bytes for every closed route and a missing one, unless its JWT names the issuer', async () => {
    const upstream = opened(await startUpstream());
    const issuer = opened(await startTokenIssuer());
    const { snapshots, callers } = await refusalWorld(issuer, upstream.url);
    // The seconds until the allowance begins anew stand in each answer.
    const fixedMs = Date.now();
    const clock = { ...systemClock, nowMs: () => fixedMs };
    const environment = { AUTH_FAILURE_LIMIT: '1000000' };
    const gateway = opened(
      await startTestDataPath({ upstreams: [] }, { snapshots, environment, clock }),
    );
    const routes = Object.entries(authOfEachType(issuer)).flatMap(([name, { type }]) =>
      type === 'none' ? [] : [name],
    );
    const telling: unknown[] = [];
    for (const [who, { fields }] of Object.entries(callers)) {
      if (namesIssuer(fields, issuer.auth().issuer)) continue;
      const answers = await Promise.all(
        [...routes, MISSING].map((route) => answerToHalfClosed(gateway.port, route, fields)),
      );
      const isSame = new Set(answers).size === 1 && answers[0]?.startsWith('HTTP/1.1 401 ');
      if (isSame !== true) telling.push([who, answers]);
    }
    expect(telling).toEqual([]);
    expect(upstream.seen).toHaveLength(0);
  });
});
