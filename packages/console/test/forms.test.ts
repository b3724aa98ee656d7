import { describe, expect, it } from '@jest/globals';
import { ROUTE_FORM, SERVICE_FORM, type FormFields } from '@gateway/client/form-fields';
import { NEW_ROUTE } from '../src/pages/route-form/route-draft.ts';
import { NEW_SERVICE } from '../src/pages/service-form/service-draft.ts';

/** The fields whose controls are written by hand. */
const BY_HAND = [
  'service_id',
  'versions',
  'match',
  'rewrite',
  'mirror',
  'auth',
  'methods',
  'cors',
  'url',
  'upstreams',
  'credential',
  'tls',
];

describe('the forms of routes and services', () => {
  it('begin with the defaults of the API', () => {
    expect(NEW_ROUTE).toMatchObject({
      name: '',
      service_id: null,
      versions: null,
      match: [],
      affinity: null,
      mirror: null,
      timeout_ms: 10_000,
      auth: { type: 'token' },
      rate_limit: { limit: 60_000, per: 'route' },
      retry: { on_statuses: [502, 503, 504], per_attempt_timeout_ms: null },
    });
    expect(NEW_SERVICE).toMatchObject({
      upstreams: [{ url: '', region: null, weight: 1 }],
      health_path: '/healthz',
      health_check: { path: null, interval_ms: 5000 },
      limits: { max_in_flight: null, adaptive: false },
      credential: null,
      tls: null,
    });
    expect(NEW_SERVICE).not.toHaveProperty('url');
  });

  it('have a control for every field', () => {
    const kinds = [ROUTE_FORM, SERVICE_FORM].flatMap((fields) => [...leaves(fields)]);
    expect(kinds.length).toBeGreaterThan(20);
    expect(kinds.filter(([, kind]) => kind === 'other')).toEqual([]);
    expect(ROUTE_FORM['rate_limit']?.fields['per']).toMatchObject({
      label: 'Counted for',
      choices: [
        ['route', 'All callers together'],
        ['token', 'Each caller'],
        ['ip', 'Each client address'],
      ],
    });
    expect(ROUTE_FORM['timeout_ms']).toMatchObject({ unit: 'ms', min: 1, max: 300_000 });
  });
});

function* leaves(fields: FormFields): Generator<[name: string, kind: string]> {
  for (const [name, field] of Object.entries(fields)) {
    if (BY_HAND.includes(name)) continue;
    if (field.kind === 'object') yield* leaves(field.fields);
    else yield [name, field.kind];
  }
}
