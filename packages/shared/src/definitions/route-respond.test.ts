import { expect, it } from '@jest/globals';
import { respondField } from './route-respond.ts';

function issuesOf(respond: object): [string, string][] {
  const issues = respondField.safeParse(respond).error?.issues ?? [];
  return issues.map(({ path, message }) => [path.join('.'), message]);
}

it('has an empty 200 of text by default', () => {
  expect(respondField.parse({})).toEqual({
    status: 200,
    body: '',
    content_type: 'text/plain; charset=utf-8',
  });
});

it.each([
  { status: 599 },
  { status: 304 },
  { body: 'ä'.repeat(32 * 1024) },
  { body: 'a\r\n\u0001\u{1f600}' },
  { content_type: 'application/problem+json' },
  { content_type: 'text/html;charset=utf-8; a="b \\" c"' },
])('accepts %j', (respond) => {
  expect(issuesOf(respond)).toEqual([]);
});

it.each([
  [{ status: 199 }, 'status', 'from 200 to 599'],
  [{ status: 600 }, 'status', 'from 200 to 599'],
  [{ status: '200' }, 'status', 'from 200 to 599'],
  [{ status: 401 }, 'status', 'must not be 401: it needs WWW-Authenticate'],
  [{ status: 308 }, 'status', 'must not be 308: `redirect` answers so'],
  [{ status: 204, body: 'a' }, 'body', 'must be empty'],
  [{ status: 304, body: 'a' }, 'body', 'must be empty'],
  [{ body: 'ä'.repeat(32 * 1024 + 1) }, 'body', 'at most 65536 bytes'],
  [{ body: 7 }, 'body', 'must be a string'],
  [{ body: 'a\0' }, 'body', 'U+0000'],
  [{ body: '\ud800' }, 'body', 'lone surrogates'],
  [{ content_type: '' }, 'content_type', 'media type'],
  [{ content_type: 'text' }, 'content_type', 'media type'],
  [{ content_type: 'text/plain\r\nX: y' }, 'content_type', 'media type'],
  [{ content_type: 'text/plain; charset' }, 'content_type', 'media type'],
  [{ content_type: 'text/ä' }, 'content_type', 'media type'],
  [{ content_type: `text/${'a'.repeat(300)}` }, 'content_type', 'media type'],
])('refuses %j', (respond, path, message) => {
  expect(issuesOf(respond)).toEqual([[path, expect.stringContaining(message)]]);
});
