import { describe, expect, it } from '@jest/globals';
import { errorContent } from './error-content.ts';
import { errorBody } from './gateway-error.ts';

const details = [{ path: 'limit', message: 'must be a "number"' }];
const content = (accept: string | undefined) =>
  errorContent(accept, 'invalid_request', 'It is not "valid".', 'req_1', details);

describe('the content of an error', () => {
  it.each([undefined, '*/*', 'application/json', 'application/problem+json;q=0.1, */*'])(
    'is the promised one for Accept: %s',
    (accept) => {
      expect(content(accept)).toEqual({
        type: 'application/json; charset=utf-8',
        body: errorBody('invalid_request', 'It is not "valid".', 'req_1', details),
      });
    },
  );

  it('has the members of RFC 9457 beside the promised one for callers that ask for them', () => {
    const { type, body } = content('application/problem+json');
    expect(type).toBe('application/problem+json');
    expect(JSON.parse(body)).toEqual({
      type: '/docs/errors#invalid_request',
      title: 'Invalid request',
      status: 400,
      detail: 'It is not "valid".',
      instance: '/v1/requests/req_1',
      ...(JSON.parse(content(undefined).body) as object),
    });
  });
});
