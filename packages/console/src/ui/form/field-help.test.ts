import { describe, expect, it } from '@jest/globals';
import { ROUTE_FORM, SERVICE_FORM } from '@gateway/client/form-fields';
import { fieldWords } from './field-help.ts';

describe('what a form says of a field', () => {
  const ofRoute = (object: string, name: string) =>
    fieldWords(ROUTE_FORM[object]?.fields[name] ?? fail(name), ROUTE_FORM);

  it('names other fields and choices as the form does', () => {
    expect(fieldWords(ROUTE_FORM['retry_count'] ?? fail('retry_count'), ROUTE_FORM)).toEqual({
      description:
        'The largest number of retries of a request: it is sent at most 1 + “Retries” times. From 0 to 10, default 2.',
    });
    expect(ofRoute('retry', 'per_attempt_timeout_ms')).toEqual({
      description: 'The time that one attempt may take. From 1 ms to 5 min.',
      emptyMeans: 'all that is left of “Deadline”',
    });
    expect(ofRoute('idempotency', 'mode').description).toMatch(
      /^Who handles keys\. “The gateway”: the gateway runs .* “The upstream”: the upstream alone;/,
    );
    expect(ofRoute('rate_limit', 'on_store_unavailable').description).toContain(
      'quota_unavailable',
    );
  });

  it('says what an empty field means in the field, or in the help if that is long', () => {
    const limits = SERVICE_FORM['limits']?.fields ?? {};
    const words = fieldWords(limits['max_in_flight'] ?? fail('max_in_flight'), SERVICE_FORM);
    expect(words.emptyMeans).toBe('');
    expect(words.description).toMatch(/ From 1 to 1,000,000\. Empty: half of .*environment\.$/);
  });
});

function fail(name: string): never {
  throw new Error(`no field ${name}`);
}
