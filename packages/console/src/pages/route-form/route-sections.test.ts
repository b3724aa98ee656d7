import { expect, it } from '@jest/globals';
import { ROUTE_FORM, type FormField, type FormFields } from '@gateway/client/form-fields';
import fc from 'fast-check';
import type { Draft } from '../../ui/form/draft.ts';
import { readableDraft, sentenceOf as sentenceOfSection } from '../../ui/form/section-text.ts';
import { NEW_ROUTE } from './route-draft.ts';
import { defaultsSentence, FIRST_SECTIONS, FOLDED_SECTIONS } from './route-sections.ts';

function sentenceOf(title: string, fields: Draft = {}): string {
  const section = FOLDED_SECTIONS.find((one) => one.title === title);
  if (section === undefined) throw new Error(`no section ${title}`);
  const draft = { ...NEW_ROUTE, ...fields };
  return sentenceOfSection(section, ROUTE_FORM, draft, readableDraft(ROUTE_FORM, draft));
}

it('each section of a new route says what it does, without an own word for a default', () => {
  const sentences = FOLDED_SECTIONS.map(({ title }) => `${title}: ${sentenceOf(title)}`);
  expect(sentences).toMatchInlineSnapshot(`
[
  "Authentication: Callers send a token with the scope proxy, as Authorization: Bearer, or as the password of Authorization: Basic.",
  "Quota: 60,000 requests in a minute for all callers together, over all data planes.",
  "Time and retries: Up to 3 attempts within 10 s.",
  "Methods and bodies: GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS only. Bodies up to 10 MiB.",
  "Idempotency keys: A request with a key runs once; within 24 hours the same request gets the stored response.",
  "Rewriting: Off: requests and responses stay as they are.",
  "Browsers (CORS): Off: the upstream decides.",
  "Regions: A data plane uses healthy upstreams of its own region. If there are none, it uses any other region.",
  "Sessions: Off: each request goes to any upstream.",
  "Mirror: Off: no copies are made.",
  "Streams: Off: the deadline holds for all requests.",
  "Slow bodies: The body of a request may take 1 h, and needs 1 KiB a second over 30 s.",
  "Responses: Addresses of the upstream become those by which callers reach the route.",
  "Log: Every request has a line in the log.",
  "Status: Active.",
]
`);
  expect(defaultsSentence()).toMatchInlineSnapshot(
    `"Defaults: a token is required, 60,000 requests in a minute, 10 s deadline, 2 retries, bodies up to 10 MiB; nothing is rewritten or copied."`,
  );
});

it('the sentence follows what is typed', () => {
  const quota = { limit: 600, window_seconds: 60, per: 'token', on_store_unavailable: 'share' };
  expect(sentenceOf('Quota', { rate_limit: quota })).toBe(
    '600 requests in a minute for each caller, over all data planes.',
  );
  expect(sentenceOf('Time and retries', { retry_count: 0, timeout_ms: 2000 })).toBe(
    '1 attempt within 2 s: nothing is repeated.',
  );
  expect(sentenceOf('Authentication', { auth: { type: 'none' } })).toBe(
    'Anybody may call the route.',
  );
  const respond = { status: 200, content_type: 'text/plain', body: '' };
  expect(sentenceOf('Time and retries', { respond })).toBe(
    'No effect: the gateway answers itself.',
  );
  expect(sentenceOf('Quota', { respond })).toMatch(/^60,000 requests/);
  expect(sentenceOf('Status', { status: 'disabled' })).toBe('Disabled: requests get 404.');
});

it('what is typed and no value of its field is shown as it was typed, and nothing else', () => {
  expect(sentenceOf('Time and retries', { timeout_ms: 'soon' })).toBe(
    'Not valid: Deadline “soon”.',
  );
  const limits = NEW_ROUTE['rate_limit'] as Draft;
  const quota = { rate_limit: { ...limits, window_seconds: '2 parsecs', limit: '' } };
  expect(sentenceOf('Quota', quota)).toBe('Not valid: Requests, Window “2 parsecs”.');
});

it('what may be null and is left out is null', () => {
  const others = { headers: ['*'], expose: [], credentials: false, max_age_s: 600 };
  const fields = { methods: undefined, cors: { origins: ['*'], methods: undefined, ...others } };
  const left = readableDraft(ROUTE_FORM, { ...NEW_ROUTE, ...fields });
  expect(left.draft).toMatchObject({ methods: null, cors: { methods: null } });
  expect(sentenceOf('Time and retries', fields)).toBe(sentenceOf('Time and retries'));
});

/** What a control of the kind could leave in a draft, right or wrong. */
function typed(field: FormField): fc.Arbitrary<unknown> {
  const { kind, nullMeans, fields, choices } = field;
  const text = fc.string({ maxLength: 8 });
  const list = fc.array(fc.oneof(text, fc.integer()), { maxLength: 3 });
  const values: Readonly<Record<FormField['kind'], fc.Arbitrary<unknown>>> = {
    integer: fc.oneof(text, fc.double({ noNaN: true }), fc.constant(undefined)),
    number: fc.oneof(text, fc.double({ noNaN: true }), fc.constant(undefined)),
    switch: fc.boolean(),
    text: fc.oneof(text, fc.constant(undefined)),
    choice: fc.constantFrom(...choices.map(([value]) => value), undefined),
    list: fc.oneof(list, fc.constant(undefined)),
    object: fc.record(typedFields(fields)),
    other: fc.constant(undefined),
  };
  return nullMeans === undefined ? values[kind] : fc.oneof(values[kind], fc.constant(null));
}

const OTHERS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  auth: fc.constantFrom(
    { type: 'api_key' },
    { type: 'jwt', issuer: '', audience: [], jwks_url: '', algorithms: [], required_claims: '{' },
  ),
};

function typedFields(fields: FormFields): Record<string, fc.Arbitrary<unknown>> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, OTHERS[name] ?? typed(field)]),
  );
}

it('no draft, however wrong, stops a sentence', () => {
  fc.assert(
    fc.property(fc.record(typedFields(ROUTE_FORM)), (draft) => {
      for (const { title } of FOLDED_SECTIONS)
        expect(sentenceOf(title, draft)).toEqual(expect.any(String));
    }),
    { seed: 53 },
  );
});

it('no field of a route has two places; those that have none are in sections of their own', () => {
  const placed = [...FIRST_SECTIONS, ...FOLDED_SECTIONS].flatMap(({ fields }) => fields);
  expect(placed).toEqual([...new Set(placed)]);
  expect(Object.keys(ROUTE_FORM)).toEqual(expect.arrayContaining(placed));
});
