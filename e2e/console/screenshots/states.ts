import type { Page, Route } from 'playwright-core';
import { press, type Picture } from './picture.ts';
import type { Scene } from './scene.ts';

/** All that pages read, but who the reader is and which environments there are. */
const READ = /\/v1\/(?:stats|services|routes|requests|data-planes|audit-events|tokens)/;
const ANYTHING = /\/(?:v1|console\/session)/;
const LONG_NAME = 'settlement-of-cross-border-payments-of-the-northern-region-eu-1';
const LONG_HOST = 'https://payments.settlement.northern-region.internal.company.example:8443/v2';
const LONG_PATH =
  '/accounts/01m8kwecjp2rgrfvxn9e7n9t8x/statements/2026-11/lines/entries/of/the/month';
/** Names that become long ones, among others that stay. */
const NAMES = ['payments', 'charges', 'orders', 'notifications'];

/** Pages that never have what they asked for. */
const isLoading = (page: Page) => page.route(READ, () => undefined);

const isFailing = (page: Page) => page.route(READ, failedCall);

function failedCall(call: Route): Promise<void> {
  const error = {
    code: 'internal_error',
    message: 'The request failed inside the control plane.',
    details: [],
    request_id: 'req_01m8kwecjp2rgrfvxn9e7n9t8x',
  };
  return call.fulfill({ status: 500, json: { error } });
}

const hasLongNames = (page: Page) => page.route(READ, withLongNames);

async function withLongNames(call: Route): Promise<void> {
  const response = await call.fetch();
  let text = await response.text();
  for (const name of NAMES) {
    text = text.replaceAll(new RegExp(`"(name|route)":"${name}"`, 'g'), `"$1":"${LONG_NAME}"`);
  }
  text = text
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, LONG_HOST)
    .replaceAll(/"path":"\/v1\/proxy\/[a-z-]+/g, `"path":"/v1/proxy/${LONG_NAME}${LONG_PATH}`)
    .replaceAll(
      '"name":"admin"',
      '"name":"Deployments of the team for cross-border settlement, CI"',
    );
  await call.fulfill({ response, body: text });
}

const failed = async (page: Page): Promise<void> => {
  await page
    .getByRole('alert')
    .first()
    .waitFor({ timeout: 15_000 })
    .catch(() => undefined);
};

/** The first data plane is of the release before, and reports nothing of its process; the second has little left. */
const hasOldDataPlane = (page: Page) =>
  page.route(/\/v1\/data-planes/, async (call) => {
    const response = await call.fetch();
    const body = (await response.json()) as { data: object[] };
    const [old = {}, busy = {}, ...others] = body.data;
    const none = {
      gateway_version: '0.2.0',
      process_cpu_ratio: null,
      process_resident_memory_bytes: null,
      memory_limit_bytes: null,
      event_loop_delay_ms: null,
    };
    const much = {
      process_cpu_ratio: 1.04,
      process_resident_memory_bytes: 490 * 1024 ** 2,
      memory_limit_bytes: 512 * 1024 ** 2,
      event_loop_delay_ms: 412,
    };
    const data = [{ ...old, ...none }, { ...busy, ...much }, ...others];
    await call.fulfill({ response, json: { ...body, data } });
  });

/** Pages while they load, that failed, with long names, and with something open. */
export function statePictures(scene: Scene): readonly Picture[] {
  const pages = [
    ['overview', '/overview?period=24h'],
    ['requests', '/requests?live=false'],
    ['request', `/requests/${scene.retriedId}`],
    ['callers', '/callers?period=24h'],
    ['services', '/services'],
    ['service', `/services/${scene.serviceId}`],
  ] as const;
  return [
    ...pages.flatMap(([name, path]): readonly Picture[] => [
      { name: `${name}-loading`, path, before: isLoading },
      { name: `${name}-broken`, path, before: isFailing, prepare: failed },
      { name: `${name}-long`, path, before: hasLongNames },
    ]),
    {
      name: 'requests-open-long',
      path: `/requests?live=false&open=${scene.retriedId}`,
      before: hasLongNames,
    },
    { name: 'requests-views', path: '/requests?live=false', prepare: press('Views') },
    { name: 'requests-period', path: '/requests?live=false', prepare: press('From … until') },
    {
      name: 'requests-between',
      path: '/requests?since=2026-01-01T00:00:00.000Z&until=2026-01-02T00:00:00.000Z',
    },
    { name: 'requests-empty', path: '/requests?environment=development' },
    { name: 'request-missing', path: `/requests/req_${'0'.repeat(26)}`, prepare: failed },
    { name: 'callers-empty', path: '/callers?environment=development' },
    { name: 'services-empty', path: '/services?environment=development' },
    { name: 'service-missing', path: `/services/svc_${'0'.repeat(26)}`, prepare: failed },
    { name: 'service-unhealthy', path: `/services/${scene.failingServiceId}` },
    { name: 'data-planes-mixed', path: '/data-planes', before: hasOldDataPlane },
    { name: 'data-plane-old', path: '/data-planes/data-plane-2', before: hasOldDataPlane },
    { name: 'data-plane-busy', path: '/data-planes/data-plane-3', before: hasOldDataPlane },
    { name: 'help', path: '/services', prepare: press('Help') },
    { name: 'colours', path: '/services', prepare: press('Colours') },
    {
      name: 'navigation',
      path: '/services',
      async prepare(page) {
        const burger = page.getByRole('button', { name: 'Open the navigation' });
        if (await burger.isVisible()) await burger.click();
      },
    },
    {
      name: 'focus',
      path: '/overview?period=24h',
      async prepare(page) {
        for (let pressed = 0; pressed < 16; pressed += 1) await page.keyboard.press('Tab');
      },
    },
    { name: 'environment-unknown', path: '/services?environment=nowhere' },
    {
      name: 'shell-loading',
      path: '/overview',
      before: (page) => page.route(ANYTHING, () => undefined),
    },
    {
      name: 'shell-broken',
      path: '/overview',
      before: (page) => page.route(/\/v1\/whoami/, failedCall),
      prepare: failed,
    },
    {
      name: 'away',
      path: '/services',
      async prepare(page) {
        await page.route(ANYTHING, (call) => call.abort());
        await page.getByText('The control plane does not answer').waitFor({ timeout: 30_000 });
      },
    },
  ];
}

/** The sign-in. */
export const SIGN_IN_PICTURES: readonly Picture[] = [
  { name: 'sign-in', path: '/sign-in', isSignedOut: true },
  { name: 'sign-in-ended', path: '/sign-in?reason=ended', isSignedOut: true },
  {
    name: 'sign-in-refused',
    path: '/sign-in',
    isSignedOut: true,
    async prepare(page) {
      await page.getByLabel('Token').fill('gwt_mistyped');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').waitFor();
    },
  },
];
