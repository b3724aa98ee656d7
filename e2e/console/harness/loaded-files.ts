import type { Page } from 'playwright-core';

/**
 * Counts the bytes of each file that a page loads from its next navigation on, as they are sent: nothing comes from a cache,
 * and the other pages, which are loaded some seconds later, are left out as for a reader who asks for less data.
 */
export async function countFiles(page: Page): Promise<{ readonly sum: () => number }> {
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'connection', { value: { saveData: true } });
  });
  const devtools = await page.context().newCDPSession(page);
  const urls = new Map<string, string>();
  const bytes = new Map<string, number>();
  devtools.on('Network.requestWillBeSent', ({ requestId, request }) => {
    const { pathname } = new URL(request.url);
    if (!pathname.startsWith('/console/api/')) urls.set(requestId, pathname);
  });
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const url = urls.get(requestId);
    if (url !== undefined) bytes.set(url, encodedDataLength);
  });
  await devtools.send('Network.enable');
  await devtools.send('Network.setCacheDisabled', { cacheDisabled: true });
  return { sum: () => [...bytes.values()].reduce((total, one) => total + one, 0) };
}
