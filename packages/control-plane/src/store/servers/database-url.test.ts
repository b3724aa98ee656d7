import { describe, expect, it } from '@jest/globals';
import { parseDatabaseUrl } from './database-url.ts';

const namesOf = (url: string) => parseDatabaseUrl(url).servers.map(({ name }) => name);
const urlsOf = (url: string) => parseDatabaseUrl(url).servers.map((server) => server.url);
const WRITES = 'target_session_attrs=read-write';

describe('a database URL', () => {
  it('names several servers, each with the user, the database and the options of all', () => {
    const url = `postgres://ann:p%40ss@one:6432,two,[::1]:7000/gateway?sslmode=verify-full&${WRITES}`;
    expect(namesOf(url)).toEqual(['one:6432', 'two:5432', '[::1]:7000']);
    expect(urlsOf(url)).toEqual([
      'postgres://ann:p%40ss@one:6432/gateway?sslmode=verify-full',
      'postgres://ann:p%40ss@two/gateway?sslmode=verify-full',
      'postgres://ann:p%40ss@[::1]:7000/gateway?sslmode=verify-full',
    ]);
  });

  it.each([
    ['postgres://one/gateway', false],
    ['postgres://one,two/gateway', true],
    [`postgresql://one/gateway?${WRITES}`, true],
    ['postgres://one/gateway?target_session_attrs=primary', true],
    ['postgres://one,two/gateway?target_session_attrs=any', false],
  ])('%s requires a server that accepts writes: %s', (url, mustAcceptWrites) => {
    expect(parseDatabaseUrl(url).mustAcceptWrites).toBe(mustAcceptWrites);
  });

  it.each([
    'postgres://127.0.0.1:5432/gateway',
    'postgres:///gateway?host=/var/run/postgresql',
    'postgres://ann@one',
  ])('of one server is passed on as it is: %s', (url) => {
    expect(urlsOf(url)).toEqual([url]);
  });

  it.each([
    ['mysql://one/gateway', /^must be a URL postgres:\/\/…$/],
    ['one,two', /^must be a URL/],
    ['postgres://one,,two/gateway', /^must be a URL/],
    ['postgres://one:port,two/gateway', /^must be a URL/],
    ['postgres://one:70000/gateway', /^must be a URL/],
    ['postgres:///gateway?host=one,two', /^must name hosts before the path/],
    ['postgres://one,two/gateway?host=three', /^must name hosts before the path/],
    [
      'postgres://one,two/gateway?target_session_attrs=prefer-standby',
      /^must have read-write, primary, any as target_session_attrs$/,
    ],
  ])('%s is refused', (url, reason) => {
    expect(() => parseDatabaseUrl(url)).toThrow(reason);
  });

  it('is refused without a word of its password', () => {
    expect(() => parseDatabaseUrl('postgres://ann:secret@one:x/gateway')).toThrow(/^(?!.*secret)/);
  });
});
