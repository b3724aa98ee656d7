import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { invalidValues, SETTINGS, stopTimeMs, wrongNames, type PlaneName } from '../settings.ts';

const deploy = fileURLToPath(new URL('..', import.meta.url));
const docs = path.join(deploy, '../docs');
const PLANES = ['control-plane', 'data-plane'] as const satisfies PlaneName[];
/** What the units set for Node and the shell, not for a plane. */
const OF_SYSTEM = new Set(['PATH', 'NODE_COMPILE_CACHE']);

const read = (name: string) => readFileSync(path.join(deploy, 'one-machine', name), 'utf8');
const page = readFileSync(path.join(docs, 'run/one-machine.md'), 'utf8');
/** The code blocks of the page in this language. */
const blocks = (language: string) =>
  [...page.matchAll(/```(\w+)\n([\s\S]*?)```/g)].flatMap(([, of, text = '']) =>
    of === language ? [text] : [],
  );

/** The values of a key of a unit, in order. */
function values(unit: string, key: string): string[] {
  return unit
    .split('\n')
    .filter((line) => line.startsWith(`${key}=`))
    .map((line) => line.slice(key.length + 1));
}

/** `NAME=value` pairs, as systemd reads them. */
function variables(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.flatMap((pair) => {
      const at = pair.indexOf('=');
      const name = pair.slice(0, at);
      return OF_SYSTEM.has(name) ? [] : [[name, pair.slice(at + 1).replace(/^'(.*)'$/, '$1')]];
    }),
  );
}

/** The variables that a unit, or a part of one, sets itself. */
const variablesOf = (unit: string) =>
  variables(values(unit, 'Environment').flatMap((line) => line.split(' ')));
const unitOf = (plane: PlaneName) => read(`gateway-${plane}.service`);
/** Where a plane listens: the setting of the unit, else its default. */
function setting(plane: PlaneName, name: string): string {
  const shape: Readonly<Record<string, { parse: (value: unknown) => unknown }>> = SETTINGS[plane];
  return String(shape[name]?.parse(variablesOf(unitOf(plane))[name]));
}
const ports = {
  data: setting('data-plane', 'GATEWAY_PORT'),
  dataAdmin: setting('data-plane', 'DATA_PLANE_ADMIN_PORT'),
  control: setting('control-plane', 'CONTROL_PLANE_PORT'),
  controlAdmin: setting('control-plane', 'CONTROL_PLANE_ADMIN_PORT'),
};

describe('the units', () => {
  let secrets: string;
  const secret = (name: string) => readFileSync(path.join(secrets, name), 'utf8');
  const makeSecrets = () =>
    execFileSync(path.join(deploy, 'one-machine/make-secrets.sh'), [secrets]);
  beforeAll(() => {
    secrets = mkdtempSync(path.join(tmpdir(), 'one-machine-'));
    makeSecrets();
  });
  afterAll(() => rmSync(secrets, { recursive: true }));

  it.each(PLANES)('give the %s valid settings, and all that it requires', (plane) => {
    const unit = unitOf(plane);
    const [file = ''] = values(unit, 'EnvironmentFile');
    const all = {
      ...variablesOf(unit),
      ...variables(secret(path.relative('/etc/gateway', file)).trim().split('\n')),
    };
    expect(wrongNames(plane, Object.keys(all))).toEqual([]);
    expect(invalidValues(plane, all)).toEqual([]);
  });

  it.each(PLANES)('let the %s listen on this machine only', (plane) => {
    const hosts = Object.keys(SETTINGS[plane]).filter((name) => name.endsWith('_HOST'));
    expect(hosts.map((name) => setting(plane, name))).toEqual(['127.0.0.1', '127.0.0.1']);
  });

  it.each(PLANES)('give the %s more time than it needs to stop', (plane) => {
    const [seconds] = values(unitOf(plane), 'TimeoutStopSec');
    expect(Number(seconds) * 1000).toBeGreaterThan(stopTimeMs(plane, variablesOf(unitOf(plane))));
  });

  it.each(PLANES)('start the %s from the link that the page makes', (plane) => {
    expect(values(unitOf(plane), 'ExecStart')).toEqual([`/opt/gateway/${plane}/start`]);
    expect(page).toContain(`ln -sfn "gateway-${plane}-$VERSION" ${plane}\n`);
  });

  it('have one master key, and the passwords that NATS reads; a second run keeps them', () => {
    const nats = variables(secret('nats.env').trim().split('\n'));
    const [control, data] = PLANES.map((plane) => {
      const { GATEWAY_MASTER_KEYS, NATS_URL = '' } = variables(
        secret(`${plane}.env`).trim().split('\n'),
      );
      const { username, password, host } = new URL(NATS_URL);
      const name = `${plane.replace('-', '_').toUpperCase()}_NATS_PASSWORD`;
      expect([username, `"${password}"`]).toEqual([plane, nats[name]]);
      expect(read('nats.conf')).toContain(`listen: "${host}"`);
      return GATEWAY_MASTER_KEYS;
    });
    expect(control).toBe(data);
    const before = secret('control-plane.env');
    makeSecrets();
    expect(secret('control-plane.env')).toBe(before);
  });
});

describe('the Caddyfile', () => {
  it('sends callers to the data plane and operators to the control plane', () => {
    const targets = [...read('Caddyfile').matchAll(/reverse_proxy (\S+)/g)].map(([, to]) => to);
    expect(targets).toEqual([`127.0.0.1:${ports.data}`, `127.0.0.1:${ports.control}`]);
  });

  it('has the rewriting that the page explains', () => {
    const [rewrite = ''] = /uri path_regexp .*/.exec(read('Caddyfile')) ?? [];
    expect(page).toContain(`\`${rewrite}/api\``);
  });
});

describe('docs/run/one-machine.md', () => {
  const shell = blocks('sh').join('\n');

  it('installs every file of deploy/one-machine', () => {
    const installed = [...shell.matchAll(/(?:one-machine|nats)\/[*\w.-]+/g)].map(([one]) => one);
    const files = readdirSync(path.join(deploy, 'one-machine'))
      .filter((file) => !file.endsWith('.ts'))
      .map((file) => `one-machine/${file}`);
    const isInstalled = (file: string) => installed.some((one) => path.matchesGlob(file, one));
    expect(files.filter((file) => !isInstalled(file))).toEqual([]);
    expect(
      installed.filter((one) => !one.includes('*') && !existsSync(path.join(deploy, one))),
    ).toEqual([]);
  });

  it('names settings that exist, with valid values', () => {
    const [dropIn = ''] = blocks('ini');
    const all = { ...variablesOf(unitOf('data-plane')), ...variablesOf(dropIn) };
    expect(Object.keys(variablesOf(dropIn))).toContain('TLS_CERT_FILE');
    expect(wrongNames('data-plane', [...Object.keys(all), 'GATEWAY_MASTER_KEYS'])).toEqual([]);
    const set = Object.entries(all).filter(([, value]) => value !== '');
    expect(invalidValues('data-plane', Object.fromEntries(set))).toEqual([]);
    const named = [...page.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, name = '']) => name);
    const known = PLANES.flatMap((plane) => Object.keys(SETTINGS[plane]));
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });

  it('calls gwctl with commands and options that it has', () => {
    const pages = readdirSync(path.join(docs, 'use/gwctl'));
    const help = pages.map((file) => readFileSync(path.join(docs, 'use/gwctl', file), 'utf8'));
    const sections = help.flatMap((text) => text.split(/^## /m).slice(1));
    const calls = shell.split('\n').filter((line) => line.startsWith('gwctl '));
    expect(calls.length).toBeGreaterThan(3);
    for (const call of calls) {
      const section = sections.find((one) => call.startsWith(one.split('\n')[0] ?? call));
      const options = [...call.matchAll(/ (--[\w-]+)/g)].map(([, option = '']) => option);
      expect(section).toBeDefined();
      expect(options.filter((option) => !section?.includes(`${option} <`))).toEqual([]);
    }
  });

  it('asks the admin ports whether the planes are ready, and lets Prometheus scrape them', () => {
    const asked = [...shell.matchAll(/127\.0\.0\.1:(\d+)\/readyz/g)].map(([, port]) => port);
    expect(new Set(asked)).toEqual(new Set([ports.controlAdmin, ports.dataAdmin]));
    const [command = ''] = /^sed -e [\s\S]*?prometheus\.yml(?= >)/m.exec(shell) ?? [];
    const file = execFileSync('sh', ['-c', command], { cwd: deploy, encoding: 'utf8' });
    const targets = file.split('\n').filter((line) => line.includes('targets:'));
    expect(targets.join('\n').match(/[\w.-]+:\d+/g)).toEqual(
      [ports.controlAdmin, ports.dataAdmin, ports.controlAdmin, ports.dataAdmin].map(
        (port) => `127.0.0.1:${port}`,
      ),
    );
  });
});
