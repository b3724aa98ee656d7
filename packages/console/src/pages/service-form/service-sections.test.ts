import { expect, it } from '@jest/globals';
import { SERVICE_FORM } from '@gateway/client/form-fields';
import { withValue, type Draft } from '../../ui/form/draft.ts';
import { readableDraft, sentenceOf as sentenceOfSection } from '../../ui/form/section-text.ts';
import { NEW_SERVICE, ownService } from './service-draft.ts';
import { defaultsSentence, FIRST_SECTIONS, FOLDED_SECTIONS } from './service-sections.ts';

function sentenceOf(title: string, draft: Draft = NEW_SERVICE): string {
  const section = FOLDED_SECTIONS.find((one) => one.title === title);
  if (section === undefined) throw new Error(`no section ${title}`);
  return sentenceOfSection(section, SERVICE_FORM, draft, readableDraft(SERVICE_FORM, draft));
}

it('each section of a new service says what it does', () => {
  const sentences = FOLDED_SECTIONS.map(({ title }) => `${title}: ${sentenceOf(title)}`);
  expect(sentences).toMatchInlineSnapshot(`
[
  "Health check: GET /healthz every 5 s; unhealthy after 3 failures in a row, healthy after 2 successes in a row.",
  "Authentication: Nothing is sent.",
  "TLS: The roots and the name that the gateway expects by default.",
  "Requests to upstreams: HTTP/1.1.",
  "Limits in each data plane: At most half of the requests that a data plane takes at one time.",
]
`);
  expect(defaultsSentence()).toMatchInlineSnapshot(
    `"Defaults: GET /healthz every 5 s, HTTP/1.1, no credential."`,
  );
});

it('the sentence follows what is typed, without a secret', () => {
  const typed = { type: 'bearer', token: 'sk_secret' };
  expect(sentenceOf('Authentication', { ...NEW_SERVICE, credential: typed })).toBe(
    'A bearer token is sent to the upstreams.',
  );
  const stored = { type: 'header', header: 'x-key', set_at: '2026-03-01T00:00:00.000Z' };
  expect(sentenceOf('Authentication', { ...NEW_SERVICE, credential: stored })).toBe(
    'Value in the header x-key.',
  );
  expect(sentenceOf('TLS', withValue(NEW_SERVICE, 'tls.server_name', 'a.example'))).toBe(
    'The certificate must be for a.example.',
  );
  expect(sentenceOf('TLS', withValue(NEW_SERVICE, 'tls.server_name', null))).toBe(
    sentenceOf('TLS'),
  );
});

it('the timeout of a check that the API would choose is a default', () => {
  const check = (interval_ms: number, timeout_ms: number) =>
    ownService({
      ...NEW_SERVICE,
      health_check: { ...(NEW_SERVICE['health_check'] as object), interval_ms, timeout_ms },
    })['health_check'];
  expect(check(5000, 2000)).toBeUndefined();
  expect(check(5000, 1000)).toEqual({ timeout_ms: 1000 });
  expect(check(1500, 1500)).toEqual({ interval_ms: 1500 });
});

it('no field of a service has two places; those that have none are in sections of their own', () => {
  const placed = [...FIRST_SECTIONS, ...FOLDED_SECTIONS].flatMap(({ fields }) => fields);
  expect(placed).toEqual([...new Set(placed)]);
  expect(Object.keys(SERVICE_FORM)).toEqual(expect.arrayContaining(placed));
});
