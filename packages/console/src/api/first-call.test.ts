import { describe, expect, it } from '@jest/globals';
import { keepFirstCall, takeFirstCall } from './first-call.ts';

const URL = 'https://gateway.example/console/api/v1/whoami';

describe('the call that is sent before the pages are loaded', () => {
  it('answers the same request of the pages, once', async () => {
    keepFirstCall({ url: URL, response: Promise.resolve(new Response('admin')) });
    const response = await takeFirstCall(new Request(URL));
    await expect(response?.text()).resolves.toBe('admin');
    expect(takeFirstCall(new Request(URL))).toBeUndefined();
  });

  it('answers no other request', () => {
    keepFirstCall({ url: URL, response: Promise.resolve(new Response()) });
    expect(takeFirstCall(new Request(`${URL}?x`))).toBeUndefined();
    expect(takeFirstCall(new Request(URL, { method: 'POST' }))).toBeUndefined();
  });

  it('fails where it is taken, and nowhere else', async () => {
    keepFirstCall({ url: URL, response: Promise.reject(new TypeError('away')) });
    // An unhandled rejection would fail the suite.
    await new Promise((resolve) => setTimeout(resolve));
    await expect(takeFirstCall(new Request(URL))).rejects.toThrow('away');
  });

  it('is none on a page without a session', () => {
    keepFirstCall(undefined);
    expect(takeFirstCall(new Request(URL))).toBeUndefined();
  });
});
