import { describe, expect, it } from '@jest/globals';
import { logFields } from './log-fields.ts';

describe('the fields of a log line', () => {
  it('have the names of OpenTelemetry, else the prefix of the gateway', () => {
    expect(logFields({ trace_id: 'a', status: 500, environment: 'b', left: undefined })).toEqual({
      trace_id: 'a',
      'http.response.status_code': 500,
      'gateway.environment': 'b',
    });
  });

  it('keep name, message and stack of an error and its causes, and nothing else of it', () => {
    const cause = new TypeError('inner');
    const error = Object.assign(new Error('outer', { cause }), {
      code: '23505',
      detail: 'Key (name)=(secret) exists',
    });
    const fields = logFields({ err: error });
    expect(fields).toEqual({
      'exception.type': '23505',
      'exception.message': 'outer',
      'exception.stacktrace': expect.stringMatching(
        /^Error: outer\n.*\ncaused by: TypeError: inner\n/s,
      ),
    });
  });

  it('take anything that is thrown', () => {
    expect(logFields({ err: 'text' })).toEqual({ 'exception.message': 'text' });
  });
});
