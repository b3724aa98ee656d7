import { describe, expect, it } from '@jest/globals';
import {
  credentialText,
  healthCheckText,
  limitsText,
  protocolText,
  tlsText,
} from './settings-text.ts';

describe('the settings of a service in words', () => {
  it('say what the gateway sends, without the secret', () => {
    const credential = {
      type: 'header',
      header: 'x-api-key',
      set_at: '2026-03-01T09:30:00Z',
    } as const;
    expect(credentialText({ credential })).toBe('Value in the header x-api-key');
    expect(credentialText({ credential: null })).toBe('none');
  });

  it('say how upstreams are checked', () => {
    const health_check = {
      type: 'http',
      grpc_service: '',
      path: null,
      interval_ms: 5000,
      timeout_ms: 1500,
      healthy_threshold: 1,
      unhealthy_threshold: 3,
    } as const;
    expect(healthCheckText({ health_check, health_path: '/ready' })).toBe(
      'GET /ready every 5 s, with 1.5 s to answer; unhealthy after 3 failures in a row, healthy after 1 success',
    );
  });

  it('say that a choice needs TLS', () => {
    const at = (url: string) => ({
      upstreams: [{ id: 'ups_1', url, region: null, weight: 1 }],
      websocket_protocol: 'http1' as const,
    });
    expect(protocolText({ protocol: 'auto', ...at('https://a.test') })).toBe(
      'HTTP/2 if the upstream chooses it, else HTTP/1.1',
    );
    expect(protocolText({ protocol: 'auto', ...at('http://a.test') })).toBe('HTTP/1.1');
    expect(protocolText({ protocol: 'http2', ...at('http://a.test') })).toBe('HTTP/2');
    const both = { protocol: 'http2', ...at('http://a.test') } as const;
    expect(protocolText({ ...both, websocket_protocol: 'http2' })).toBe(
      'HTTP/2; WebSockets over the same connections',
    );
  });

  it('say what is limited', () => {
    const limits = {
      max_in_flight: null,
      max_connections: null,
      max_pending: null,
      adaptive: false,
    };
    expect(limitsText({ limits })).toBe('half of the requests that a data plane takes at one time');
    expect(limitsText({ limits: { ...limits, max_in_flight: 200, adaptive: true } })).toBe(
      '200 requests at one time; fewer requests while latency rises',
    );
    const one = { ...limits, max_in_flight: 1, max_connections: 1, max_pending: 1 };
    expect(limitsText({ limits: one })).toBe(
      '1 request at one time; 1 connection to each upstream; 1 request waiting for a connection to each upstream',
    );
  });

  it('say what TLS expects', () => {
    const tls = { ca_pem: 'PEM', server_name: 'pay.example', client_certificate: null };
    expect(tlsText({ tls })).toBe(
      'only its own roots are trusted; the certificate must be for pay.example',
    );
  });
});
