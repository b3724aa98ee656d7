import { describe, expect, it } from '@jest/globals';
import { NEW_QUESTION, questionOf } from './question.ts';

describe('a question about a request', () => {
  it('has only what was typed', () => {
    expect(questionOf(NEW_QUESTION)).toEqual({ method: 'GET', path: '', headers: {} });
  });

  it('has the path, the query, headers with several values, the body and the caller', () => {
    const draft = {
      ...NEW_QUESTION,
      method: 'POST',
      target: '/17?full=1?',
      headers: 'Idempotency-Key: order-17\n\nAccept: a\nAccept:b:c',
      body: '{}',
      caller: 'token',
      token_id: 'tok_1',
      client_ip: '203.0.113.7',
      data_plane: 'dp-1',
    };
    expect(questionOf(draft)).toEqual({
      method: 'POST',
      path: '/17',
      query: 'full=1?',
      headers: { 'Idempotency-Key': ['order-17'], Accept: ['a', 'b:c'] },
      body: '{}',
      token_id: 'tok_1',
      client_ip: '203.0.113.7',
      data_plane: 'dp-1',
    });
    expect(questionOf({ ...NEW_QUESTION, caller: 'anonymous' })).toMatchObject({ anonymous: true });
    expect(questionOf({ ...NEW_QUESTION, caller: 'token' })).toMatchObject({ token_id: '' });
  });

  it('leaves it to the API to refuse a line that is no header', () => {
    expect(questionOf({ ...NEW_QUESTION, headers: 'no colon' })['headers']).toEqual({
      'no colon ': [''],
    });
    expect(questionOf({ ...NEW_QUESTION, headers: 'Accept' })['headers']).toEqual({
      'Accept ': [''],
    });
  });
});
