import { randomBytes } from 'node:crypto';
import { chown, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@gateway/client';
import { startNats } from '@gateway/local-stack/nats/start-nats';
import { ensureDatabase } from '@gateway/local-stack/postgres/ensure-database';
import { startPostgres } from '@gateway/local-stack/postgres/start-postgres';
import { freePort } from '@gateway/local-stack/process/free-port';
import { startProcess, type ManagedProcess } from '@gateway/local-stack/process/managed-process';
import { runCommand } from '@gateway/tools/process/run-command';
import { waitUntilReady } from '@gateway/local-stack/process/wait-until-ready';
import { ensureDemo } from '@gateway/local-stack/stack/demo';
import { startDemoUpstream } from '@gateway/local-stack/stack/planes';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { containerCommand } from './container.ts';
import { APP, IMAGE_UID, imageCommand, NODE, type ImageName } from './image.ts';
import { imageEnvironment } from './image-config.ts';

const READY_MS = 30_000;
const COMMAND_MS = 20_000;
type Log = (line: string) => void;
type Settings = Readonly<Record<string, string>>;

async function dataFolder(folder: string, name: ImageName): Promise<string> {
  const data = path.join(folder, `${name}-data`);
  await mkdir(data, { recursive: true });
  await chown(data, IMAGE_UID, IMAGE_UID);
  return data;
}

/** Runs a command in the root file system of an image, and returns its output. @throws Error if it fails */
async function runInImage(
  folder: string,
  name: ImageName,
  command: readonly string[],
  settings: Settings = {},
): Promise<string> {
  const data = await dataFolder(folder, name);
  const started = containerCommand({ root: path.join(folder, name), data, command });
  const env = { ...imageEnvironment(name), ...settings };
  const ended = await runCommand(started.command, started.args, { env, timeoutMs: COMMAND_MS });
  if (ended.code === 0) return ended.output.trim();
  throw new Error(`${command.join(' ')} in ${name} failed (${ended.code}): ${ended.output}`);
}

/** Runs `gwctl version` in its image. */
export async function runGwctl(folder: string): Promise<string> {
  const output = await runInImage(folder, 'gwctl', [...imageCommand('gwctl'), '--version']);
  return `gwctl --version: ${output}`;
}

/** Where the process of the image could write; an empty list but for the data folder and /tmp. */
const PROBE = `
  const fs = require('node:fs');
  const found = [];
  for (const folder of ['/', '/app', '/etc', '/usr/bin', '/tmp', '/var/lib/gateway'])
    try { fs.writeFileSync(folder + '/probe', ''); fs.rmSync(folder + '/probe'); found.push(folder); } catch {}
  console.log(JSON.stringify({ uid: process.getuid(), shell: fs.existsSync('/bin/sh'), writable: found }));
`;

/** Starts a plane in its image and waits until its health check succeeds. */
async function startPlane(
  folder: string,
  name: 'control-plane' | 'data-plane',
  settings: Settings,
): Promise<ManagedProcess> {
  const data = await dataFolder(folder, name);
  const root = path.join(folder, name);
  const env = { ...imageEnvironment(name), ...settings };
  const started = await startProcess({
    name,
    ...containerCommand({ root, data, command: imageCommand(name) }),
    env,
    logFile: path.join(folder, `${name}.log`),
    stopTimeoutMs: READY_MS,
  });
  const check = [NODE, `${APP}/healthcheck.mjs`, '/readyz'];
  await waitUntilReady(started, {
    check: () => runInImage(folder, name, check, settings).then(() => true),
    timeoutMs: READY_MS,
    signal: undefined,
  });
  return started;
}

/**
 * Runs both planes from their root file systems, with a Postgres and a NATS of this machine, and sends one request through
 * them. Everything is stopped in the end.
 *
 * @throws Error if a plane does not start or stop, the request fails, or an image can be written to
 */
export async function servedRequest(folder: string, log: Log): Promise<string> {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const servers = path.join(folder, 'servers');
    const postgres = await startPostgres({ dataDir: path.join(servers, 'postgres'), log });
    stops.push(() => postgres.stop());
    const nats = await startNats({ dataDir: path.join(servers, 'nats'), log });
    stops.push(() => nats.stop());
    const upstream = await startDemoUpstream({
      name: 'demo-upstream',
      logFile: path.join(folder, 'demo-upstream.log'),
      env: {},
    });
    stops.push(() => upstream.stop());
    const token = createTokenSecret();
    const common = {
      NATS_URL: nats.url,
      GATEWAY_MASTER_KEYS: `k1:${randomBytes(32).toString('base64')}`,
      UPSTREAM_DENY_CIDRS: '169.254.0.0/16',
    };
    const controlPort = await freePort();
    const controlPlane = await startPlane(folder, 'control-plane', {
      ...common,
      DATABASE_URL: await ensureDatabase(postgres.url, 'gateway'),
      GATEWAY_ADMIN_TOKEN: token,
      CONTROL_PLANE_HOST: '127.0.0.1',
      CONTROL_PLANE_ADMIN_HOST: '127.0.0.1',
      CONTROL_PLANE_PORT: String(controlPort),
      CONTROL_PLANE_ADMIN_PORT: String(await freePort()),
    });
    stops.push(() => controlPlane.stop());
    const port = await freePort();
    const dataPlane = await startPlane(folder, 'data-plane', {
      ...common,
      CONTROL_PLANE_URL: `http://127.0.0.1:${controlPort}`,
      GATEWAY_HOST: '127.0.0.1',
      DATA_PLANE_ADMIN_HOST: '127.0.0.1',
      GATEWAY_PORT: String(port),
      DATA_PLANE_ADMIN_PORT: String(await freePort()),
    });
    stops.push(() => dataPlane.stop());
    const baseUrl = `http://127.0.0.1:${port}`;
    await ensureDemo(createClient({ baseUrl, token }), upstream.baseUrl, undefined);
    const answer = await proxied(baseUrl, token);
    for (const name of ['control-plane', 'data-plane'] as const) {
      log(`${name}: ${await runInImage(folder, name, [NODE, '-e', PROBE])}`);
    }
    for (const plane of [dataPlane, controlPlane]) {
      const { code } = await plane.stop();
      if (code !== 0) throw new Error(`${plane.name} ended with exit code ${code}`);
    }
    return answer;
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** Sends requests until one is proxied: the route was created a moment ago. Then reads what only files of the image hold. */
async function proxied(baseUrl: string, token: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const post = () =>
    fetch(`${baseUrl}/v1/proxy/echo`, { method: 'POST', headers, body: '{"hello":"image"}' });
  const deadline = performance.now() + READY_MS;
  let response = await post();
  while (response.status !== 200 && performance.now() < deadline) {
    await response.arrayBuffer();
    await delay(50);
    response = await post();
  }
  const text = await response.text();
  if (response.status !== 200) throw new Error(`the request got ${response.status}: ${text}`);
  for (const page of ['/console', '/v1/openapi.json', '/docs', '/docs/guide/run/install']) {
    const { status } = await fetch(baseUrl + page, { headers });
    if (status !== 200) throw new Error(`GET ${page} got ${status}`);
  }
  return `POST /v1/proxy/echo: 200 ${text.slice(0, 60)}`;
}
