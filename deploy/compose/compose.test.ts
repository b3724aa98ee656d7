import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { masterKeysVariable } from '@gateway/shared/config/master-keys';
import { isTokenSecret } from '@gateway/shared/tokens/secret';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { z } from 'zod';
import { readYaml } from '../read-yaml.ts';
import { invalidValues, stopTimeMs, wrongNames, type PlaneName } from '../settings.ts';

const service = z.object({
  image: z.string(),
  read_only: z.literal(true),
  cap_drop: z.tuple([z.literal('ALL')]),
  environment: z.record(z.string(), z.string()).default({}),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  stop_grace_period: z.string().optional(),
});
const composeFile = z.object({ services: z.record(z.string(), service) });
const dashboardProviders = z.object({
  providers: z.tuple([z.object({ options: z.object({ path: z.string() }) })]),
});
const PLANES = ['control-plane', 'data-plane'] as const satisfies PlaneName[];

const folder = fileURLToPath(new URL('..', import.meta.url));
const { services } = composeFile.parse(readYaml('compose.yaml')[0]);
const environmentOf = (name: string) => services[name]?.environment ?? {};

describe('compose.yaml', () => {
  it('follows the schema of the compose specification', () => {
    const manifest = createRequire(import.meta.url).resolve('dclint/package.json');
    const file = path.join(path.dirname(manifest), 'schemas/compose.schema.json');
    const schema = JSON.parse(readFileSync(file, 'utf8')) as { $schema?: string };
    // Draft 7, which Ajv knows under another name.
    delete schema.$schema;
    const validate = new Ajv({ strict: false, allErrors: true }).compile(schema);
    validate(readYaml('compose.yaml')[0]);
    expect(validate.errors ?? []).toEqual([]);
  });

  it.each(PLANES)('sets only settings that the %s has, and all that it requires', (plane) => {
    expect(wrongNames(plane, Object.keys(environmentOf(plane)))).toEqual([]);
    const plain = Object.entries(environmentOf(plane)).filter(([, value]) => !value.includes('$'));
    expect(invalidValues(plane, Object.fromEntries(plain))).toEqual([]);
  });

  it.each(PLANES)('gives the %s more time than it needs to stop', (plane) => {
    const grace = services[plane]?.stop_grace_period ?? '10s';
    expect(Number(grace.replace(/s$/, '')) * 1000).toBeGreaterThan(
      stopTimeMs(plane, environmentOf(plane)),
    );
  });

  it('mounts only files that are here, or that make-secrets.sh makes', () => {
    const files = Object.values(services)
      .flatMap(({ volumes }) => volumes.map((volume) => volume.split(':')[0] ?? ''))
      .filter((file) => file.startsWith('./') && !file.startsWith('./compose/secrets/'));
    expect(files.filter((file) => !existsSync(path.join(folder, file)))).toEqual([]);
  });

  it('mounts the dashboards where the provider of Grafana looks for them', () => {
    const { providers } = dashboardProviders.parse(readYaml('compose/grafana-dashboards.yaml')[0]);
    const folders = providers.map(({ options }) => `./grafana/dashboards:${options.path}:ro`);
    expect(services['grafana']?.volumes).toEqual(expect.arrayContaining(folders));
  });

  it('publishes ports on this machine only, and pins every image to a version', () => {
    const all = Object.values(services);
    expect(
      all.flatMap(({ ports }) => ports).filter((port) => !/^127\.0\.0\.1:/.test(port)),
    ).toEqual([]);
    expect(all.map(({ image }) => image).filter((image) => !/:\$?[\w{.-]*\d/.test(image))).toEqual(
      [],
    );
  });
});

describe('make-secrets.sh', () => {
  let copy: string;
  const make = () => execFileSync(path.join(copy, 'compose/make-secrets.sh'), { encoding: 'utf8' });
  beforeAll(async () => {
    copy = await mkdtemp(path.join(tmpdir(), 'compose-'));
    await cp(path.join(folder, 'compose'), path.join(copy, 'compose'), { recursive: true });
    await rm(path.join(copy, 'compose/secrets'), { recursive: true, force: true });
  });
  afterAll(() => rm(copy, { recursive: true }));

  it('creates every secret of compose.yaml once, in the form that the planes accept', async () => {
    make();
    const text = await readFile(path.join(copy, '.env'), 'utf8');
    const values = new Map(
      text
        .trim()
        .split('\n')
        .map((line): [string, string] => {
          const at = line.indexOf('=');
          return [line.slice(0, at), line.slice(at + 1)];
        }),
    );
    expect(isTokenSecret(values.get('GATEWAY_ADMIN_TOKEN') ?? '')).toBe(true);
    expect(masterKeysVariable.safeParse(values.get('GATEWAY_MASTER_KEYS')).success).toBe(true);
    const compose = await readFile(path.join(folder, 'compose.yaml'), 'utf8');
    const required = [...compose.matchAll(/\$\{(\w+):\?/g)].map(([, name = '']) => name);
    expect(required.filter((name) => !values.has(name))).toEqual([]);
    make();
    expect(await readFile(path.join(copy, '.env'), 'utf8')).toBe(text);
  });
});
