import { describe, expect, it } from '@jest/globals';
import { ROUTE_FORM, SERVICE_FORM, type FormField } from '@gateway/client/form-fields';
import { fieldLabel, messageText, withLabels } from './field-labels.ts';

describe('the label of a field', () => {
  it.each([
    ['timeout_ms', 'Deadline'],
    ['rate_limit.window_seconds', 'Quota, Window'],
    ['retry.on_statuses.1', 'Retries, Repeat after these statuses'],
    ['versions.1.service_id', 'Version 2, Service'],
    ['match.0.hosts.2', 'Way 1, Hosts'],
    ['match.0.paths.1.prefix', 'Way 1, Path 2'],
    ['match.0.headers.0.value', 'Way 1, Header 1, Value'],
    ['rewrite.request_headers.set.0.name', 'Request headers, Set headers 1, Name'],
    ['auth.jwks_url', 'Authentication, URL of the keys'],
    ['something_else.0', 'Something else 1'],
  ])('of a route, %s, is %s', (path, label) => {
    expect(fieldLabel(path, ROUTE_FORM)).toBe(label);
  });

  it.each([
    ['upstreams.0.url', 'Upstream 1, URL'],
    ['upstreams.1', 'Upstream 2'],
    ['credential.token', 'Credential, Bearer token'],
    ['tls.client_certificate.key_pem', 'TLS, Client certificate, Private key'],
    ['health_check.timeout_ms', 'Health check, Timeout'],
  ])('of a service, %s, is %s', (path, label) => {
    expect(fieldLabel(path, SERVICE_FORM)).toBe(label);
  });

  it('is there for every field of routes and services', () => {
    const unnamed = [ROUTE_FORM, SERVICE_FORM].flatMap((form) => [...unlabelled(form)]);
    expect(unnamed).toEqual([]);
  });

  it('stands in messages in place of the name in the API', () => {
    expect(withLabels('must be at most interval_ms, which is 500', SERVICE_FORM)).toBe(
      'must be at most “Interval”, which is 500',
    );
    expect(withLabels('must not be quota_unavailable', ROUTE_FORM)).toBe(
      'must not be quota_unavailable',
    );
    expect(messageText('must be at most interval_ms', SERVICE_FORM)).toBe(
      'must be at most “Interval”',
    );
    expect(messageText('must be a whole number from 1 to 1000000', {})).toBe(
      'must be a whole number from 1 to 1,000,000',
    );
  });
});

/** The paths of fields that a reader would see by their names in the API. */
function* unlabelled(form: Readonly<Record<string, FormField>>, prefix = ''): Generator<string> {
  for (const [name, { label, fields }] of Object.entries(form)) {
    // The kind is chosen by controls that have no error; `url` is another name of the first upstream.
    if (label === name && name !== 'type' && `${prefix}${name}` !== 'url') yield `${prefix}${name}`;
    yield* unlabelled(fields, `${prefix}${name}.`);
  }
}
