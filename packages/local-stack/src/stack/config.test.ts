import { describe, expect, it } from '@jest/globals';
import { parseStackConfig } from './config.ts';

describe('the configuration of the local stack', () => {
  it('has the documented defaults', () => {
    expect(parseStackConfig({}, '/srv/gateway')).toEqual({
      dataDir: '/srv/gateway/.gateway',
      controlPlanePort: 8081,
      controlPlaneAdminPort: 9081,
      dataPlanes: [{ name: 'data-plane-1', port: 8080, adminPort: 9090 }],
      workers: 1,
      adminToken: undefined,
      masterKeys: undefined,
      databaseUrl: undefined,
      natsUrl: undefined,
      region: 'local',
      defaultEnvironment: 'production',
      upstreamDenyCidrs:
        '169.254.0.0/16,fe80::/10,fd00:ec2::254/128,100.100.100.200/32,168.63.129.16/32,192.0.0.192/32',
      logLevel: 'info',
    });
  });

  it('gives each further data plane ports that are higher by ten', () => {
    const { dataPlanes } = parseStackConfig({ DATA_PLANES: '3', GATEWAY_PORT: '7000' }, '/');
    expect(dataPlanes).toEqual([
      { name: 'data-plane-1', port: 7000, adminPort: 9090 },
      { name: 'data-plane-2', port: 7010, adminPort: 9100 },
      { name: 'data-plane-3', port: 7020, adminPort: 9110 },
    ]);
  });

  it('names every invalid variable in one line, without its value', () => {
    const bad = { GATEWAY_PORT: 'x', DATA_PLANES: '0', GATEWAY_ADMIN_TOKEN: 'hidden' };
    expect(() => parseStackConfig(bad, '/')).toThrow(
      /^GATEWAY_PORT: [^\n]*DATA_PLANES: [^\n]*GATEWAY_ADMIN_TOKEN: (?!.*hidden)[^\n]*$/,
    );
  });
});
