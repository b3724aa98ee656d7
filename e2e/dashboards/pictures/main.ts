/** See README.md. The first argument is the folder; further ones are uids of dashboards. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findChromium } from '@gateway/testing/chromium';
import { chromium } from 'playwright-core';
import { startGateway } from '../../harness/gateway.ts';
import { startPrometheus } from '../../harness/prometheus-server.ts';
import { dashboardsWithAnswers, type Period } from './answers.ts';
import { drawingFiles } from './components.ts';
import { openShop, startShop } from './shop.ts';

const DEFAULT_UIDS = ['gateway-traffic', 'gateway-canary'];
/** Parts of the time, each with this part of the requests for the canary, in percent. */
const SHIFTS = [
  [75_000, 5],
  [75_000, 25],
  [90_000, 50],
] as const;
/** The first rates need some scrapes. */
const LEAD_S = 15;
const STEP_S = 2;
const ADDRESS = 'http://dashboards.test/';
const VIEWPORT = { width: 1440, height: 900 };
const HEADER_PX = 80;
const SETTLE_MS = 3000;

/** The dashboards with their answers after some minutes of traffic. */
async function record(uids: readonly string[]) {
  const shop = await startShop();
  const gateway = await startGateway({ dataPlanes: 2 });
  const hostOf = (url: string) => new URL(url).host;
  const admins = [gateway.controlPlane, ...gateway.dataPlanes].map(({ adminUrl }) => adminUrl);
  const [controlPlane = '', ...dataPlanes] = admins.map(hostOf);
  const prometheus = await startPrometheus(
    {
      'gateway-control-plane': [controlPlane],
      'gateway-data-plane': dataPlanes,
      'gateway-ready': admins.map((url) => `${url}/readyz`),
    },
    { interval: '1s' },
  );
  const { shift, keepCalling } = await openShop(gateway, shop.url);
  const stop = new AbortController();
  const calling = keepCalling(stop.signal);
  const start = Math.floor(Date.now() / 1000) + LEAD_S;
  for (const [ms, percent] of SHIFTS) {
    await shift(percent);
    await sleep(ms);
  }
  const period: Period = { start, end: Math.floor(Date.now() / 1000), step: STEP_S };
  const boards = await dashboardsWithAnswers(prometheus.url, period, uids);
  stop.abort();
  await calling;
  await prometheus.close();
  await gateway.close();
  await shop.close();
  return { ...period, boards };
}

async function main(): Promise<void> {
  const [folder, ...named] = process.argv.slice(2);
  if (folder === undefined) {
    process.stderr.write('usage: npm run dashboards:pictures -- <folder> [uid ...]\n');
    process.exit(2);
  }
  await mkdir(folder, { recursive: true });
  const uids = named.length === 0 ? DEFAULT_UIDS : named;
  const { script, style } = drawingFiles();
  const data = JSON.stringify(await record(uids)).replaceAll('<', String.raw`\u003c`);
  const found = await findChromium({ log: () => undefined });
  const browser = await chromium.launch({
    executablePath: found.path,
    env: { ...process.env, ...found.env },
    args: ['--no-sandbox'],
  });
  for (const uid of uids) {
    const page = await browser.newPage({ viewport: VIEWPORT });
    const body = `<!doctype html><style>${style} body { margin: 0 }</style><div id="root"></div>
      <script>window.DATA = ${data}; window.BOARD = '${uid}';</script><script src="/draw.js"></script>`;
    await page.route('**/*', (route) => {
      const { pathname } = new URL(route.request().url());
      if (pathname === '/') return route.fulfill({ contentType: 'text/html', body });
      if (pathname !== '/draw.js') return route.fulfill({ status: 404, body: '' });
      return route.fulfill({ contentType: 'text/javascript', body: script });
    });
    await page.goto(ADDRESS);
    await page.waitForTimeout(SETTLE_MS);
    const height = await page.evaluate<number>(
      "document.querySelector('#panels').getBoundingClientRect().height",
    );
    await page.setViewportSize({ ...VIEWPORT, height: Math.ceil(height) + HEADER_PX });
    await page.waitForTimeout(SETTLE_MS);
    const file = path.join(folder, `${uid.replace('gateway-', 'dashboard-')}.png`);
    await page.screenshot({ path: file });
    process.stdout.write(`${file}\n`);
    await page.close();
  }
  await browser.close();
}

await main();
process.exit(0);
