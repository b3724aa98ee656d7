import type { Caller } from '../../../api/client.ts';
import { describe, expect, it } from '@jest/globals';
import { firstQuestion, NEW_QUESTION, questionLabel, questionOf } from './question.ts';

describe('a question about a request', () => {
  it('has only what was typed', () => {
    expect(questionOf(NEW_QUESTION)).toEqual({ method: 'GET', path: '', headers: {} });
  });

  it('begins with a caller that the route lets in', () => {
    const reader = { id: 'tok_1' } as Caller;
    const first = (type: 'none' | 'token' | 'api_key') => firstQuestion({ auth: { type } }, reader);
    expect(questionOf(first('none'))).toMatchObject({ anonymous: true });
    expect(questionOf(first('token'))).toMatchObject({ token_id: 'tok_1' });
    expect(questionOf(first('api_key'))).toMatchObject({ token_id: 'tok_1' });
  });

  it('has the path, the query, headers with several values, the body and the caller', () => {
    const draft = {
      ...NEW_QUESTION,
      method: 'POST',
      host: 'api.example.com',
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
      host: 'api.example.com',
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

  it('names what is wrong as the form does', () => {
    expect(['path', 'query', 'headers.no colon ', 'client_ip'].map(questionLabel)).toEqual([
      'Path and query',
      'Path and query',
      'Headers',
      'Client address',
    ]);
  });
});
