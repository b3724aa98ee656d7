import { buildConsole } from '@gateway/tools/build/build-pages';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { borrowGateway, type BorrowedGateway } from '../../harness/borrowed-gateway.ts';
import { startBrowser } from '../../harness/browser.ts';
import { startGateway, type Gateway, type GatewayOptions } from '../../harness/gateway.ts';

export { BROWSER_START_MS } from '../../harness/browser.ts';

const VIEWPORT = { width: 1280, height: 720 };

/** A gateway with a built console, and a browser. */
export interface ConsoleWorld<Of = BorrowedGateway> {
  readonly gateway: Of;
  /** The address of the console, through the data plane. */
  readonly url: string;
  /**
   * Loads a path in the tab that the tests of a suite share: signed in with the token, by default that of the admin; null: without
   * a session. It has the storage of the test before, but nothing that it opened, typed or intercepted. A profile of its own takes
   * four times the CPU time.
   */
  visit(path: string, token?: string | null): Promise<ConsolePage>;
  /** Opens a page in a browser profile of its own, without a session. */
  open(path: string, options?: BrowserContextOptions): Promise<ConsolePage>;
  /** Closes every page but the shared tab: they would go on calling the gateway. For `afterEach`. */
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

/** Borrows a gateway, builds the console and starts the browser. */
export async function borrowConsoleWorld(): Promise<ConsoleWorld> {
  return worldOf(await borrowGateway());
}

/** The same with a gateway of its own, for tests that stop a part of it, or outside jest. */
export async function startConsoleWorld(
  options: GatewayOptions = {},
): Promise<ConsoleWorld<Gateway>> {
  return worldOf(await startGateway(options));
}

async function worldOf<Of extends BorrowedGateway | Gateway>(
  gateway: Of,
): Promise<ConsoleWorld<Of>> {
  try {
    await buildConsole({ log: fail });
    return pagesOf(gateway, await startBrowser());
  } catch (error) {
    await gateway.close();
    throw error;
  }
}

function fail(line: string): never {
  throw new Error(line);
}

function pagesOf<Of extends BorrowedGateway | Gateway>(
  gateway: Of,
  browser: Browser,
): ConsoleWorld<Of> {
  const { baseUrl, token: adminToken } = gateway.admin;
  const url = `${baseUrl}/console`;
  let shared: ConsolePage | undefined;

  async function newPage(options: BrowserContextOptions = {}): Promise<ConsolePage> {
    const context = await browser.newContext({ locale: 'en-GB', ...options });
    const page = await context.newPage();
    const messages: string[] = [];
    const requested: string[] = [];
    page.on('console', (message) => messages.push(message.text()));
    page.on('pageerror', (error) => messages.push(String(error)));
    page.on('request', (request) => requested.push(request.url()));
    return {
      page,
      messages,
      requested,
      async signIn(typed = adminToken) {
        await page.getByLabel('Token').fill(typed);
        await page.getByRole('button', { name: 'Sign in' }).click();
      },
    };
  }

  /** A page that moves nothing, and loads no other page ahead: both take a seventh of the CPU time of a browser. */
  async function newCalmPage(): Promise<ConsolePage> {
    const opened = await newPage({ viewport: VIEWPORT, reducedMotion: 'reduce' });
    await opened.page.addInitScript(() => {
      Object.defineProperty(navigator, 'connection', { value: { saveData: true } });
    });
    return opened;
  }

  /** What the sign-in does, without its page. */
  async function startSession(page: Page, token: string | null): Promise<void> {
    const context = page.context();
    if (token === null) return context.clearCookies();
    const headers = { 'X-Console-Request': '1' };
    const answer = await context.request.post(`${url}/session`, { data: { token }, headers });
    if (!answer.ok()) throw new Error(`sign-in: ${answer.status()} ${await answer.text()}`);
  }

  return {
    gateway,
    url,
    async visit(path, token = adminToken) {
      shared ??= await newCalmPage();
      const { page, messages, requested } = shared;
      await startSession(page, token);
      await page.setViewportSize(VIEWPORT);
      messages.length = 0;
      requested.length = 0;
      await page.goto(url + path);
      return shared;
    },
    async open(path, options) {
      const opened = await newPage(options);
      await opened.page.goto(url + path);
      return opened;
    },
    async closePages() {
      const kept = shared?.page;
      await kept?.unrouteAll();
      const contexts = browser.contexts().filter((one) => one !== kept?.context());
      const tabs = (kept?.context().pages() ?? []).filter((one) => one !== kept);
      await Promise.all([...contexts, ...tabs].map((one) => one.close()));
    },
    async close() {
      await browser.close();
      await gateway.close();
    },
  };
}
