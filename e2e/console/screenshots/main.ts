/**
 * Takes a picture of every page of the console, with a day of traffic, in both themes at 1280, 390 and 1920 px. The first
 * argument is the folder; further ones are names of pictures, if not all are wanted.
 */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import type { Gateway } from '../../harness/gateway.ts';
import { startConsoleWorld, type ConsoleWorld } from '../harness/console-world.ts';
import { picturesOf, type Picture } from './pages.ts';
import { fillScene, startTraffic } from './scene.ts';
import { startShopUpstream } from './shop-upstream.ts';

/** A laptop, a phone, and a large screen. */
const WIDTHS = [1280, 390, 1920] as const;
const LOOKS = (['light', 'dark'] as const).flatMap((colorScheme) =>
  WIDTHS.map((width) => ({ colorScheme, width })),
);
const HEIGHT = 900;
const TRAFFIC_EVERY_MS = 400;
const IDLE_MS = 1500;
/** Charts and transitions end within this time. */
const SETTLE_MS = 500;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function takePictures(
  world: ConsoleWorld<Gateway>,
  pictures: readonly Picture[],
  folder: string,
): Promise<void> {
  for (const { colorScheme, width } of LOOKS) {
    const viewport = { width, height: HEIGHT };
    const { page, signIn } = await world.open('/sign-in', { colorScheme, viewport });
    const suffix = `${colorScheme}-${width}.png`;
    await page.getByLabel('Token').waitFor();
    await page.screenshot({ path: path.join(folder, `sign-in-${suffix}`) });
    await signIn();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    for (const picture of pictures) {
      await page.goto(world.url + picture.path);
      await settled(page);
      await picture.prepare?.(page);
      await page.waitForTimeout(SETTLE_MS);
      await showWhole(page);
      const file = path.join(folder, `${picture.name}-${suffix}`);
      await page.screenshot({ path: file });
      await page.setViewportSize(viewport);
      say(file);
    }
  }
}

/** Resolves when the page has loaded what it shows, or after some time: live pages are never idle. */
async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForLoadState('networkidle', { timeout: IDLE_MS }).catch(() => undefined);
}

/** Makes the window as high as the page, because a picture of more than the window cuts what stays in place. */
async function showWhole(page: Page): Promise<void> {
  const size = page.viewportSize() ?? { width: 0, height: HEIGHT };
  const height = await page.evaluate<number>('document.documentElement.scrollHeight');
  await page.setViewportSize({ ...size, height });
  await page.waitForTimeout(SETTLE_MS);
}

async function main(): Promise<void> {
  const [folder, ...names] = process.argv.slice(2);
  if (folder === undefined) {
    process.stderr.write('usage: npm run console:screenshots -- <folder> [picture ...]\n');
    process.exit(2);
  }
  await mkdir(folder, { recursive: true });
  const world = await startConsoleWorld({
    dataPlanes: 2,
    dataPlaneStart: (_stack, index) => ({ env: { REGION: index === 0 ? 'eu-west' : 'us-east' } }),
  });
  const upstream = await startShopUpstream();
  try {
    const scene = await fillScene(world.gateway, upstream);
    const stop = startTraffic(world.gateway, TRAFFIC_EVERY_MS);
    const pictures = picturesOf(scene).filter(
      ({ name }) => names.length === 0 || names.includes(name),
    );
    await takePictures(world, pictures, folder).finally(stop);
  } finally {
    await world.close();
    await upstream.close();
  }
}

await main();
