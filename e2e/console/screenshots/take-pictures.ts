import path from 'node:path';
import type { Page } from 'playwright-core';
import type { Gateway } from '../../harness/gateway.ts';
import type { ConsoleWorld } from '../harness/console-world.ts';
import type { Picture } from './picture.ts';

export const THEMES = ['light', 'dark'] as const;
/** A laptop, a phone, and a large screen. */
export const WIDTHS = [1280, 390, 1920] as const;

/** How pages are looked at: the theme, and the width of the window. */
export interface Look {
  readonly colorScheme: (typeof THEMES)[number];
  readonly width: number;
}

const HEIGHT = 900;
const IDLE_MS = 1500;
/** A page that loads for ever has no heading. */
const HEADING_MS = 5000;
/** Charts and transitions end within this time. */
const SETTLE_MS = 500;

/** Takes each picture in each look. @param onTaken gets the file of each */
export async function takePictures(
  world: ConsoleWorld<Gateway>,
  pictures: readonly Picture[],
  looks: readonly Look[],
  folder: string,
  onTaken: (file: string) => void,
): Promise<void> {
  for (const { colorScheme, width } of looks) {
    const viewport = { width, height: HEIGHT };
    const { page, signIn } = await world.open('/sign-in', { colorScheme, viewport });
    let isSignedIn = false;
    for (const picture of pictures.toSorted(signedOutFirst)) {
      if (!isSignedIn && picture.isSignedOut === undefined) {
        await page.goto(`${world.url}/sign-in`);
        await signIn();
        await page.getByRole('heading', { name: 'Overview' }).waitFor();
        isSignedIn = true;
      }
      await picture.before?.(page);
      await page.goto(world.url + picture.path);
      await settled(page);
      await picture.prepare?.(page);
      await page.waitForTimeout(SETTLE_MS);
      await showWhole(page);
      const file = path.join(folder, `${picture.name}-${colorScheme}-${width}.png`);
      await page.screenshot({ path: file });
      onTaken(file);
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await page.setViewportSize(viewport);
    }
    await page.context().close();
  }
}

function signedOutFirst(a: Picture, b: Picture): number {
  return Number(a.isSignedOut === undefined) - Number(b.isSignedOut === undefined);
}

/** Resolves when the page has loaded what it shows, or after some time: live pages are never idle. */
async function settled(page: Page): Promise<void> {
  const heading = page.getByRole('heading', { level: 1 });
  await heading.waitFor({ timeout: HEADING_MS }).catch(() => undefined);
  await page.waitForLoadState('networkidle', { timeout: IDLE_MS }).catch(() => undefined);
}

/** Makes the window as high as the page, because a picture of more than the window cuts what stays in place. */
async function showWhole(page: Page): Promise<void> {
  const size = page.viewportSize() ?? { width: 0, height: HEIGHT };
  const height = await page.evaluate<number>('document.documentElement.scrollHeight');
  if (height <= size.height) return;
  await page.setViewportSize({ ...size, height });
  await page.waitForTimeout(SETTLE_MS);
}
