import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { readConfig } from './config.ts';

const keys = `k1:${randomBytes(32).toString('base64')}`;

describe('readConfig', () => {
  it('requires only the master keys', () => {
    const config = readConfig({ GATEWAY_MASTER_KEYS: keys });
    expect(config).toMatchObject({
      CONTROL_PLANE_PORT: 8081,
      CONTROL_PLANE_ADMIN_PORT: 9081,
      DEFAULT_ENVIRONMENT: 'production',
      AUTH_FAILURE_LIMIT: 600,
      MANAGEMENT_RATE_LIMIT: 6000,
    });
    expect(config.UPSTREAM_DENY_CIDRS.has('169.254.169.254')).toBe(true);
    expect(config.UPSTREAM_DENY_CIDRS.has('127.0.0.1')).toBe(true);
    expect(config.TRUSTED_PROXIES.has('127.0.0.1')).toBe(false);
    expect(Object.isFrozen(config)).toBe(true);
  });

  it.each([
    ['CONTROL_PLANE_PORT', '70000'],
    ['DATABASE_URL', 'mysql://a/b'],
    ['DATABASE_URL', 'postgres://a,b/c?target_session_attrs=standby'],
    ['DATABASE_DIRECT_URL', 'a,b'],
    ['NATS_REPLICAS', '0'],
    ['GATEWAY_MASTER_KEYS', 'k1:short'],
    ['TRUSTED_PROXIES', '10.0.0.0/99'],
    ['UPSTREAM_DENY_CIDRS', 'everything'],
    ['AUTH_FAILURE_LIMIT', 'many'],
    ['LOG_LEVEL', 'loud'],
  ])('refuses %s=%s in one line that names the variable', (name, value) => {
    const read = () => readConfig({ GATEWAY_MASTER_KEYS: keys, [name]: value });
    expect(read).toThrow(new RegExp(`^${name}: .+$`));
  });

  it('never repeats an invalid secret', () => {
    const token = createTokenSecret().slice(0, -1);
    const read = () => readConfig({ GATEWAY_ADMIN_TOKEN: token });
    expect(read).toThrow('GATEWAY_MASTER_KEYS is not set');
    expect(read).toThrow('GATEWAY_ADMIN_TOKEN: must be gwt_ and 43 characters of base64url');
    expect(read).not.toThrow(token);
  });
});
