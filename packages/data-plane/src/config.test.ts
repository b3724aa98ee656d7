import { describe, expect, it } from '@jest/globals';
import { ConfigError } from '@gateway/shared/config/environment';
import { readConfig } from './config.ts';

const KEYS = `k1:${Buffer.alloc(32, 1).toString('base64')}`;
const read = (environment: Record<string, string>) =>
  readConfig({ GATEWAY_MASTER_KEYS: KEYS, ...environment });

describe('the configuration of a data plane', () => {
  it('requires only the master keys and is frozen', () => {
    const config = read({});
    expect(Object.isFrozen(config)).toBe(true);
    expect(config).toMatchObject({
      GATEWAY_PORT: 8080,
      DATA_PLANE_ADMIN_PORT: 9090,
      DEFAULT_ENVIRONMENT: 'production',
      REGION: 'local',
      AUTH_FAILURE_LIMIT: 600,
      LOG_LEVEL: 'info',
    });
    expect(config.CONTROL_PLANE_URL).toBeUndefined();
    expect(config.DATA_PLANE_ID).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
    expect(config.TRUSTED_PROXIES.has('127.0.0.1')).toBe(false);
  });

  it('refuses loopback, link-local and metadata addresses as upstreams unless told otherwise', () => {
    const refused = ['127.0.0.1', '::1', '0.0.0.0', '169.254.169.254', 'fe80::1', 'fd00:ec2::254'];
    for (const address of refused) expect(read({}).UPSTREAM_DENY_CIDRS.has(address)).toBe(true);
    expect(read({}).UPSTREAM_DENY_CIDRS.has('10.0.0.1')).toBe(false);
    const own = read({ UPSTREAM_DENY_CIDRS: '10.0.0.0/8, 192.0.2.1' }).UPSTREAM_DENY_CIDRS;
    expect([own.has('10.9.9.9'), own.has('192.0.2.1'), own.has('127.0.0.1')]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('treats an empty variable as absent', () => {
    expect(read({ GATEWAY_PORT: '', CONTROL_PLANE_URL: '' }).GATEWAY_PORT).toBe(8080);
  });

  it.each([
    ['GATEWAY_PORT', '65536'],
    ['GATEWAY_PORT', '80x'],
    ['GATEWAY_PORT', '-1'],
    ['DATA_PLANE_ADMIN_PORT', '9090.5'],
    ['WORKERS', '0'],
    ['WORKERS', '65'],
    ['WORKERS', '-1'],
    ['WORKERS', '1.5'],
    ['WORKERS', 'all'],
    ['WORKER_HANG_TIMEOUT_MS', '999'],
    ['DATA_PLANE_ID', 'a b'],
    ['DATA_PLANE_ID', 'a'.repeat(65)],
    ['CONTROL_PLANE_URL', 'localhost:8081'],
    ['CONTROL_PLANE_URL', 'ftp://control'],
    ['GATEWAY_MASTER_KEYS', 'k1:short'],
    ['REGION', 'EU West'],
    ['DEFAULT_ENVIRONMENT', 'Production!'],
    ['TRUSTED_PROXIES', '10.0.0.0/8,nonsense'],
    ['UPSTREAM_DENY_CIDRS', '10.0.0.0/99'],
    ['AUTH_FAILURE_LIMIT', '0'],
    ['MAX_IN_FLIGHT_REQUESTS', '0'],
    ['MAX_CONNECTIONS', 'many'],
    ['MAX_UPSTREAM_CONNECTIONS', '65536'],
    ['MAX_HEADER_BYTES', '1023'],
    ['MAX_RETRY_BODY_BYTES', '-1'],
    ['MAX_KEPT_BODY_BYTES', '1e9'],
    ['CONNECT_TIMEOUT_MS', '0'],
    ['HEADERS_TIMEOUT_MS', '600001'],
    ['KEEP_ALIVE_TIMEOUT_MS', ' 5 '],
    ['BODY_IDLE_TIMEOUT_MS', 'Infinity'],
    ['LINGER_TIMEOUT_MS', '0'],
    ['WEBSOCKET_IDLE_TIMEOUT_MS', '86400001'],
    ['DRAIN_GRACE_MS', '60001'],
    ['DRAIN_TIMEOUT_MS', '1h'],
    ['LOG_LEVEL', 'loud'],
  ])('refuses a bad %s in one line that names it: %s', (name, value) => {
    expect(() => read({ [name]: value })).toThrow(ConfigError);
    expect(() => read({ [name]: value })).toThrow(new RegExp(`^${name}: [^\\n;]+$`));
  });

  it('names every invalid variable in one line', () => {
    expect(() => readConfig({ GATEWAY_PORT: 'x', REGION: 'X' })).toThrow(
      /^GATEWAY_PORT: [^\n;]+; GATEWAY_MASTER_KEYS is not set; REGION: [^\n;]+$/,
    );
  });
});
