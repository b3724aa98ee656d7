import { describe, expect, it } from '@jest/globals';
import { parseAddressRanges } from '@gateway/shared/net/client-address';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { parseInput } from '../http/input.ts';
import { changeService, serviceSchemas, type ServiceSettings } from './service.ts';
import { NO_TLS_SETTINGS, type TlsSettings } from './service-tls.ts';
import { upstreamsOf } from './service-upstreams.ts';

const schemas = serviceSchemas(parseAddressRanges(['169.254.0.0/16', '127.0.0.0/8']));
const minimal = { name: 'Payments', url: 'https://pay.example.com/base' };

function paths(body: unknown): string[] {
  try {
    parseInput<unknown>(schemas.create, body);
    return [];
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return (error.details ?? []).map((detail) => detail.path);
  }
}

function counter(): () => string {
  let count = 0;
  return () => `ups_${(count += 1)}`;
}

describe('a service body', () => {
  it('gets the documented defaults for omitted fields', () => {
    expect(schemas.create.parse(minimal)).toEqual({
      ...minimal,
      health_path: '/healthz',
      health_check: {
        type: 'http',
        grpc_service: '',
        path: null,
        interval_ms: 5000,
        timeout_ms: 2000,
        healthy_threshold: 2,
        unhealthy_threshold: 3,
      },
      limits: {
        max_in_flight: null,
        max_connections: null,
        max_pending: null,
        adaptive: false,
      },
      protocol: 'http1',
      websocket_protocol: 'http1',
      send_via: false,
    });
  });

  it.each(['max_in_flight', 'max_connections', 'max_pending'])('accepts null for %s', (name) => {
    const { limits } = schemas.create.parse({ ...minimal, limits: { [name]: 7 } });
    expect(limits).toMatchObject({ [name]: 7 });
    expect(schemas.change.parse({ limits: { [name]: null } }).limits).toEqual({ [name]: null });
  });

  it('limits the default timeout of a check to its interval', () => {
    const timeout = (health_check: object) =>
      schemas.create.parse({ ...minimal, health_check }).health_check.timeout_ms;
    expect(timeout({ interval_ms: 600 })).toBe(600);
    expect(timeout({ interval_ms: 60_000 })).toBe(2000);
  });

  it.each([
    [{ name: '' }, ['name']],
    [{ limits: { max_in_flight: 0 } }, ['limits.max_in_flight']],
    [{ limits: { max_connections: 65_536 } }, ['limits.max_connections']],
    [{ limits: { max_pending: -1 } }, ['limits.max_pending']],
    [{ limits: { adaptive: 1 } }, ['limits.adaptive']],
    [{ protocol: 'http3' }, ['protocol']],
    [{ protocol: 'http2', websocket_protocol: 'auto' }, ['websocket_protocol']],
    [{ websocket_protocol: 'http2' }, ['websocket_protocol']],
    [{ protocol: 'http1', websocket_protocol: 'http2' }, ['websocket_protocol']],
    [{ send_via: 'no' }, ['send_via']],
    [{ limits: { max_requests: 1 } }, ['limits.max_requests']],
    [{ name: 'a'.repeat(64) }, ['name']],
    [{ url: undefined }, ['url']],
    [{ upstreams: [{ url: 'http://a.example' }] }, ['url']],
    [{ url: undefined, upstreams: [] }, ['upstreams']],
    [
      { url: undefined, upstreams: [{ url: 'http://a.example', weight: 0 }] },
      ['upstreams.0.weight'],
    ],
    [
      { url: undefined, upstreams: [{ url: 'http://a.example', region: 'EU' }] },
      ['upstreams.0.region'],
    ],
    [
      { url: undefined, upstreams: [{ url: 'http://a.example' }, { url: 'http://a.example' }] },
      ['upstreams.1'],
    ],
    [{ url: 'ftp://a.example' }, ['url']],
    [{ url: 'a.example' }, ['url']],
    [{ url: 'http://user:secret@a.example' }, ['url']],
    [{ url: 'http://a.example/#top' }, ['url']],
    [{ url: 'http://a.example/ b' }, ['url']],
    [{ url: 'http://169.254.169.254/latest' }, ['url']],
    [{ url: 'http://2130706433/' }, ['url']],
    [{ url: `http://a.example/${'x'.repeat(2048)}` }, ['url']],
    [{ health_path: 'healthz' }, ['health_path']],
    [{ health_path: '/a b' }, ['health_path']],
    [{ health_path: `/${'a'.repeat(1024)}` }, ['health_path']],
    [{ health_check: { interval_ms: 499 } }, ['health_check.interval_ms']],
    [{ health_check: { timeout_ms: 5001 } }, ['health_check.timeout_ms']],
    [{ health_check: { interval_ms: 600, timeout_ms: 601 } }, ['health_check.timeout_ms']],
    [{ health_check: { interval_ms: 600, timeout_ms: 600 } }, []],
    [{ health_check: { healthy_threshold: 21 } }, ['health_check.healthy_threshold']],
    [{ health_check: { jitter: 1 } }, ['health_check.jitter']],
    [{ status: 'healthy' }, ['status']],
  ])('is refused for %j', (fields, expected) => {
    expect(paths({ ...minimal, ...fields })).toEqual(expected);
  });

  it.each([[null], [[]], ['text'], [7], [undefined]])('is refused if it is %j', (body) => {
    expect(paths(body)).toEqual(['']);
  });
});

function seal(): never {
  throw new Error('no credential was given');
}

const sameTls = (_given: unknown, { tls, client_key }: TlsSettings) => ({ tls, client_key });

describe('changeService', () => {
  const body = schemas.create.parse({
    name: 'Payments',
    upstreams: [
      { url: 'http://a.example', region: 'eu' },
      { url: 'http://b.example', region: 'us' },
    ],
  });
  const before: ServiceSettings = {
    name: body.name,
    health_path: body.health_path,
    health_check: body.health_check,
    limits: body.limits,
    protocol: body.protocol,
    websocket_protocol: body.websocket_protocol,
    send_via: body.send_via,
    credential: null,
    ...NO_TLS_SETTINGS,
    upstreams: upstreamsOf(body, [], counter()) ?? [],
  };

  it('keeps the id of an upstream whose url and region stay', () => {
    const change = schemas.change.parse({
      upstreams: [
        { url: 'http://b.example', region: 'us', weight: 5 },
        { url: 'http://a.example', region: 'us' },
      ],
    });
    expect(changeService(before, change, () => 'ups_new', seal, sameTls).upstreams).toEqual([
      { id: 'ups_2', url: 'http://b.example', region: 'us', weight: 5 },
      { id: 'ups_new', url: 'http://a.example', region: 'us', weight: 1 },
    ]);
  });

  it('reads url as the only upstream', () => {
    const change = schemas.change.parse({ url: 'http://c.example' });
    expect(changeService(before, change, () => 'ups_new', seal, sameTls).upstreams).toEqual([
      { id: 'ups_new', url: 'http://c.example', region: null, weight: 1 },
    ]);
  });

  it('keeps the omitted fields of limits', () => {
    const change = schemas.change.parse({ limits: { max_in_flight: 10 } });
    const once = changeService(before, change, counter(), seal, sameTls);
    expect(once.limits).toEqual({ ...before.limits, max_in_flight: 10 });
  });

  it('keeps the omitted fields of health_check', () => {
    const change = schemas.change.parse({ health_check: { path: '/live' } });
    const once = changeService(before, change, counter(), seal, sameTls);
    expect(once.health_check).toEqual({ ...before.health_check, path: '/live' });
    expect(once.upstreams).toBe(before.upstreams);
  });
});
