import { describe, expect, it } from '@jest/globals';
import { corsField } from './route-cors.ts';

function problemsOf(cors: object): string[] {
  const { error } = corsField.safeParse(cors);
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')} ${message}`);
}

describe('the field cors', () => {
  it.each([
    'https://app.example.com',
    'https://*.example.com',
    'http://localhost:3000',
    'http://*.localhost:3000',
    'http://127.0.0.1:8080',
    'http://[::1]:8080',
    'https://xn--bcher-kva.example',
    'https://my_app.example.com',
    'capacitor://localhost',
    'chrome-extension://abcdefghijklmnopabcdefghijklmnop',
    '*',
  ])('takes the origin %s', (origin) => {
    expect(problemsOf({ origins: [origin] })).toEqual([]);
  });

  it.each([
    ['null', 'must not be null'],
    ['', 'must be an origin in the form'],
    ['app.example.com', 'must be an origin in the form'],
    ['https://app.example.com/', 'must be an origin in the form'],
    ['https://app.example.com/path', 'must be an origin in the form'],
    ['https://user@app.example.com', 'must be an origin in the form'],
    ['https://App.example.com', 'must be an origin in the form'],
    ['HTTPS://app.example.com', 'must be an origin in the form'],
    ['https://app.example.com.', 'must be an origin in the form'],
    ['https://bücher.example', 'must be an origin in the form'],
    ['https://a.*.example.com', 'must be an origin in the form'],
    ['https://app*.example.com', 'must be an origin in the form'],
    ['https://**.example.com', 'must be an origin in the form'],
    ['https://a.test, https://b.test', 'must be an origin in the form'],
    [`https://${'a.'.repeat(200)}test`, 'must be an origin in the form'],
    ['https://app.example.com:443', 'must be written as browsers send it, https://app.example.com'],
    ['https://*.example.com:443', 'must be written as browsers send it, https://*.example.com'],
    ['http://127.1', 'must be written as browsers send it, http://127.0.0.1'],
    ['http://[0:0::1]', 'must be written as browsers send it, http://[::1]'],
    ['https://app.example.com:99999', 'must have a host and a port that exist'],
    ['https://*.com', 'must have a name of at least two labels after *.'],
    ['https://*.10.0.0.1', 'must have a name of at least two labels after *.'],
    ['*.example.com', 'must be an origin in the form'],
  ])('refuses the origin %s', (origin, message) => {
    expect(problemsOf({ origins: [origin] })).toEqual([
      expect.stringContaining(`origins.0 ${message}`),
    ]);
  });

  it('refuses what no browser would accept, and items beside *', () => {
    expect(problemsOf({ origins: ['*'], credentials: true })).toEqual([
      'origins must not be * with credentials: browsers would refuse the response',
    ]);
    const all = { origins: ['https://a.test'], credentials: true, expose: ['*'] };
    expect(problemsOf(all)).toEqual([
      'expose must not be * with credentials: browsers would refuse the response',
    ]);
    const beside = { origins: ['*', 'https://a.test'], headers: ['*', 'x'], expose: ['x', '*'] };
    expect(problemsOf(beside)).toEqual([
      'origins must not have another item beside *',
      'headers must not have another item beside *',
      'expose must not have another item beside *',
    ]);
  });

  it.each([
    [{}, 'origins'],
    [{ origins: [] }, 'origins must be a list of 1 to 64 items'],
    [{ origins: ['https://a.test', 'https://a.test'] }, 'origins must not repeat an item'],
    [{ origins: ['https://a.test'], methods: ['*'] }, 'methods.0 must be a method'],
    [{ origins: ['https://a.test'], methods: ['A B'] }, 'methods.0 must be 1 to 32 characters'],
    [{ origins: ['https://a.test'], headers: ['a b'] }, 'headers.0 must be the name of a header'],
    [{ origins: ['https://a.test'], expose: ['a\r\nb'] }, 'expose.0 must be the name of a header'],
    [{ origins: ['https://a.test'], max_age_s: 86_401 }, 'max_age_s must be a whole number'],
    [{ origins: ['https://a.test'], other: 1 }, ''],
  ])('refuses %j', (cors, problem) => {
    expect(problemsOf(cors)).toEqual([expect.stringContaining(problem)]);
  });
});
