import { describe, expect, it } from '@jest/globals';
import { cookieValues, withCookies, withSetCookies } from './cookies.ts';

const upper = (value: string) => value.toUpperCase();
const none = () => undefined;

describe('the cookies of a request', () => {
  it('are found by name, with their case, in all lines and quotes', () => {
    const fields = ['Cookie', 'a=1; sid="x=y"; SID=2', 'X', 'sid=3', 'cookie', 'sid=4;b;sid='];
    expect(cookieValues(fields, 'sid')).toEqual(['x=y', '4', '']);
    expect(cookieValues(fields, 'none')).toEqual([]);
  });

  it('are changed; all others stay as they came', () => {
    const fields = ['Cookie', 'a=1; sid="x";  b', 'X-Sid', 'sid=x', 'cookie', 'sid=y'];
    expect(withCookies(fields, 'sid', upper)).toEqual([
      ...['Cookie', 'a=1; sid="X";  b', 'X-Sid', 'sid=x', 'cookie', 'sid=Y'],
    ]);
  });

  it('are removed, and their line if nothing is left', () => {
    const fields = ['Cookie', 'sid=1; a=1; sid=2', 'Cookie', 'sid=3', 'Accept', '*/*'];
    expect(withCookies(fields, 'sid', none)).toEqual(['Cookie', 'a=1', 'Accept', '*/*']);
    expect(withCookies(['Cookie', 'a=1; sid=2; b=2'], 'sid', none)).toEqual(['Cookie', 'a=1; b=2']);
  });
});

describe('the cookies of a response', () => {
  it('are changed without their attributes', () => {
    const fields = ['Set-Cookie', 'sid=x; Path=/; sid=z', 'set-cookie', 'other=x', 'Sid', 'x'];
    expect(withSetCookies(fields, 'sid', upper)).toEqual([
      ...['Set-Cookie', 'sid=X; Path=/; sid=z', 'set-cookie', 'other=x', 'Sid', 'x'],
    ]);
    expect(withSetCookies(fields, 'sid', none)).toEqual(['set-cookie', 'other=x', 'Sid', 'x']);
  });
});
