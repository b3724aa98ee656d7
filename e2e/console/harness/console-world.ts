import { findChromium } from '@gateway/testing/chromium';
import { buildConsole } from '@gateway/tools/build/build-console';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { startGateway, type Gateway, type GatewayOptions } from '../../harness/gateway.ts';

/** The first test of a machine may download the browser. */
export const BROWSER_START_MS = 300_000;

/** A gateway with a built console, and a browser. */
export interface ConsoleWorld {
  readonly gateway: Gateway;
  /** The address of the console, through the data plane. */
  readonly url: string;
  /** Opens a page in a browser profile of its own, without a session. */
  open(path: string, options?: BrowserContextOptions): Promise<ConsolePage>;
  /** Closes all pages, which would otherwise go on calling the gateway. For `afterEach`. */
  closePages(): Promise<void>;
  close(): Promise<void>;
}

/** A page of the console, and all that the browser said and asked for meanwhile. */
interface ConsolePage {
  readonly page: Page;
  /** Messages of the browser's console, and errors of scripts. */
  readonly messages: string[];
  /** The address of each request. */
  readonly requested: string[];
  /** Types the token into the sign-in, by default that of the admin. */
  readonly signIn: (token?: string) => Promise<void>;
}

/** Starts the gateway, builds the console and starts the browser. */
export async function startConsoleWorld(options: GatewayOptions = {}): Promise<ConsoleWorld> {
  const gateway = await startGateway(options);
  let browser: Browser | undefined;
  try {
    await buildConsole({ log: fail });
    browser = await startBrowser();
  } catch (error) {
    await gateway.close();
    throw error;
  }
  return worldOf(gateway, browser);
}

function fail(line: string): never {
  throw new Error(line);
}

async function startBrowser(): Promise<Browser> {
  const log = (line: string) => void process.stderr.write(`${line}\n`);
  const { path, env } = await findChromium({ log });
  // The tests open pages of this repository only, and root may not use the sandbox.
  return chromium.launch({ executablePath: path, env: { ...process.env, ...env } });
}

function worldOf(gateway: Gateway, browser: Browser): ConsoleWorld {
  const url = `${gateway.admin.baseUrl}/console`;
  return {
    gateway,
    url,
    async open(path, options = {}) {
      const context = await browser.newContext({ locale: 'en-GB', ...options });
      const page = await context.newPage();
      const messages: string[] = [];
      const requested: string[] = [];
      page.on('console', (message) => messages.push(message.text()));
      page.on('pageerror', (error) => messages.push(String(error)));
      page.on('request', (request) => requested.push(request.url()));
      await page.goto(url + path);
      return {
        page,
        messages,
        requested,
        async signIn(token = gateway.stack.adminToken) {
          await page.getByLabel('Token').fill(token);
          await page.getByRole('button', { name: 'Sign in' }).click();
        },
      };
    },
    async closePages() {
      await Promise.all(browser.contexts().map((context) => context.close()));
    },
    async close() {
      await browser.close();
      await gateway.close();
    },
  };
}
