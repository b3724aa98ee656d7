import { describe, expect, it } from '@jest/globals';
import { NEW_SERVICE } from './service-draft.ts';
import { testQuestion } from './test-question.ts';

const stored = { ...NEW_SERVICE, name: 'orders', upstreams: [{ url: 'https://a.test' }] };

describe('the question about a form', () => {
  it('has the address and the environment of a new service, and what else a connection needs', () => {
    const upstreams = [{ url: 'https://a.test', region: null, weight: 1 }];
    const draft = { ...NEW_SERVICE, name: 'orders', upstreams, protocol: 'http2' };
    expect(testQuestion(NEW_SERVICE, draft, { environment: 'production' })).toEqual({
      environment: 'production',
      upstreams,
      protocol: 'http2',
    });
  });

  it('has of a stored service only what was changed', () => {
    const target = { serviceId: 'svc_1' };
    expect(testQuestion(stored, stored, target)).toEqual({ service_id: 'svc_1' });
    const draft = {
      ...stored,
      health_path: '/ready',
      limits: { max_in_flight: 3 },
      tls: { server_name: 'a.test' },
    };
    expect(testQuestion(stored, draft, target)).toEqual({
      service_id: 'svc_1',
      health_path: '/ready',
      tls: { server_name: 'a.test' },
    });
  });

  it('never has a credential', () => {
    const credential = { type: 'bearer', token: 's3cret' };
    const asked = testQuestion(stored, { ...stored, credential }, { serviceId: 'svc_1' });
    expect(JSON.stringify(asked)).not.toContain('s3cret');
  });
});
