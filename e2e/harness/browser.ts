import { findChromium } from '@gateway/testing/chromium';
import { chromium, type Browser } from 'playwright-core';

/** The first test of a machine may download the browser. */
export const BROWSER_START_MS = 300_000;

/** Starts a browser for pages of this repository. */
export async function startBrowser(): Promise<Browser> {
  const log = (line: string) => void process.stderr.write(`${line}\n`);
  const { path, env } = await findChromium({ log });
  // The tests open pages of this repository only, and root may not use the sandbox.
  return chromium.launch({ executablePath: path, env: { ...process.env, ...env } });
}
