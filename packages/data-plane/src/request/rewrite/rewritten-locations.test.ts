import { describe, expect, it } from '@jest/globals';
import { rewriteField } from '@gateway/shared/definitions/route-rewrite';
import { closeAfterEach } from '@gateway/shared/test/opened';
import type { z } from 'zod';
import { startMappedRoute, valuesOf } from '../../../test/mapped-route.ts';

const opened = closeAfterEach();

async function setUp(rewrite: z.input<typeof rewriteField>) {
  const match = [{ hosts: ['api.test'], paths: [{ prefix: '/api' }], headers: [] }];
  const route = { match, rewrite: rewriteField.parse(rewrite) };
  const mapped = opened(await startMappedRoute({ basePath: '/base', route }));
  /** What callers by name and by host get of a field. */
  const seen = async (line: string) => {
    const [name = ''] = line.toLowerCase().split(':');
    const requests = [{}, { target: '/api/docs/1', lines: ['Host: api.test'] }];
    const values: string[] = [];
    for (const request of requests) {
      values.push(...valuesOf(await mapped.answer(['HTTP/1.1 201 Made', line], request), name));
    }
    return values;
  };
  return { ...mapped, seen };
}

describe('an address of the upstream in a response', () => {
  it('gets the prefix that is stripped, in place of the one that is added', async () => {
    const { seen, heads } = await setUp({ strip_prefix: '/api', add_prefix: '/v3' });
    expect(await seen('Location: /base/v3/a?b')).toEqual(['/v1/proxy/test/a?b', '/api/a?b']);
    expect(await seen('Location: http://{up}/base/v3/a')).toEqual([
      'http://gateway.test/v1/proxy/test/a',
      'http://api.test/api/a',
    ]);
    expect(await seen('Set-Cookie: a=1; Path=/base/v3')).toEqual([
      'a=1; Path=/v1/proxy/test',
      'a=1; Path=/api',
    ]);
    // The route leads to nothing else.
    expect(await seen('Location: /base/a')).toEqual(['/base/a', '/base/a']);
    const [byName = '', byHost = ''] = heads;
    expect(byName).toContain('\r\nx-forwarded-prefix: /v1/proxy/test\r\n');
    expect(byHost).toContain('\r\nx-forwarded-prefix: /api\r\n');
    expect(byHost).toMatch(/^GET \/base\/v3\/docs\/1 /);
  });

  it('may have the host that the route sends', async () => {
    const { seen } = await setUp({ strip_prefix: '/api', host: 'inner.test' });
    expect(await seen('Location: http://inner.test/base/a')).toEqual([
      'http://gateway.test/v1/proxy/test/a',
      'http://api.test/api/a',
    ]);
  });

  it('is what the route sets, if it does', async () => {
    const { seen } = await setUp({
      response_headers: { set: [{ name: 'Location', value: '/base/set' }] },
    });
    expect(await seen('Location: /base/a')).toEqual(['/base/set', '/base/set']);
  });
});
