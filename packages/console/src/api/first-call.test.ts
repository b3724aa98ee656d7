import { describe, expect, it } from '@jest/globals';
import { keepFirstCall, takeFirstCall } from './first-call.ts';

const URL = 'https://gateway.example/console/api/v1/whoami';

const keep = (response: Promise<Response>) =>
  keepFirstCall({ url: URL, response, cancel: () => undefined });

describe('the call that is sent before the pages are loaded', () => {
  it('answers the same request of the pages, once', async () => {
    keep(Promise.resolve(new Response('admin')));
    const response = await takeFirstCall(new Request(URL));
    await expect(response?.text()).resolves.toBe('admin');
    expect(takeFirstCall(new Request(URL))).toBeUndefined();
  });

  it('answers no other request', () => {
    keep(Promise.resolve(new Response()));
    expect(takeFirstCall(new Request(`${URL}?x`))).toBeUndefined();
    expect(takeFirstCall(new Request(URL, { method: 'POST' }))).toBeUndefined();
  });

  it('fails where it is taken, and nowhere else', async () => {
    keep(Promise.reject(new TypeError('away')));
    // An unhandled rejection would fail the suite.
    await new Promise((resolve) => setTimeout(resolve));
    await expect(takeFirstCall(new Request(URL))).rejects.toThrow('away');
  });

  it('ends with the request that takes it: one that is never answered does not keep the page waiting', async () => {
    const first = Promise.withResolvers<Response>();
    keepFirstCall({ url: URL, response: first.promise, cancel: first.reject });
    const request = new AbortController();
    const taken = takeFirstCall(new Request(URL, { signal: request.signal }));
    request.abort(new Error('no response within 30 s'));
    await expect(taken).rejects.toThrow('no response within 30 s');
  });

  it('is none on a page without a session', () => {
    keepFirstCall(undefined);
    expect(takeFirstCall(new Request(URL))).toBeUndefined();
  });
});
