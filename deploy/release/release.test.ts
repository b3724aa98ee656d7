import { existsSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { runCommand } from '@gateway/tools/process/run-command';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { writeArtefacts } from './artefacts.ts';
import { releasedChangelog, releaseTimeMs } from './changelog.ts';
import { buildProduct } from '../build-product.ts';
import { isLater, presentVersion } from '../present-version.ts';
import { releasedVersion } from './sums.ts';
import { setVersion, VERSIONED_FILES } from './versioned-files.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const ARTEFACTS_MS = 240_000;
const bill = z.object({
  components: z.array(
    z.object({ name: z.string(), version: z.string(), group: z.string().optional() }),
  ),
});

describe('a release', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'release-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('writes its version into every file that operators use and that names one', async () => {
    const copy = path.join(folder, 'copy');
    const places = ['deploy', 'docs', 'README.md', ...Object.keys(VERSIONED_FILES)];
    const filter = (from: string) => !from.includes('node_modules');
    for (const place of places) {
      await cp(path.join(root, place), path.join(copy, place), { recursive: true, filter });
    }
    const present = await presentVersion(root);
    await setVersion(copy, '77.8.9');
    expect(await presentVersion(copy)).toBe('77.8.9');
    const named = new RegExp(`gateway\\S*${present}|(tag|version)\\W+${present}`, 'i');
    const files = await readdir(copy, { recursive: true, withFileTypes: true });
    const left: string[] = [];
    for (const file of files.filter((one) => one.isFile())) {
      const name = path.join(file.parentPath, file.name);
      const text = await readFile(name, 'utf8');
      if (named.test(text)) left.push(path.relative(copy, name));
    }
    expect(left).toEqual([]);
  });

  it('writes it into the manifest of every package', async () => {
    const packages = (await readdir(path.join(root, 'packages'))).map(
      (one) => `packages/${one}/package.json`,
    );
    const named = Object.keys(VERSIONED_FILES).filter(
      (file) => file.startsWith('packages/') && file.endsWith('package.json'),
    );
    expect(named.toSorted()).toEqual(packages.toSorted());
  });

  it('changes nothing if a file does not name a version where it should', async () => {
    const copy = path.join(folder, 'broken');
    await cp(path.join(root, 'package.json'), path.join(copy, 'package.json'));
    await expect(setVersion(copy, '77.8.9')).rejects.toThrow();
    expect(await presentVersion(copy)).toBe(await presentVersion(root));
  });

  it.each([
    ['0.2.0', '0.1.9', true],
    ['0.10.0', '0.9.0', true],
    ['1.0.0', '0.9.9', true],
    ['0.1.0', '0.1.0', false],
    ['0.1.0', '0.2.0', false],
    ['0.2', '0.1.0', false],
    ['v0.2.0', '0.1.0', false],
    ['0.02.0', '0.1.0', false],
  ])('%s after %s: %s', (version, other, later) => {
    expect(isLater(version, other)).toBe(later);
  });

  it('has the unreleased changes as its entry', () => {
    const text = '# Changelog\n\n## Unreleased\n\n- New.\n\n## 1.0.0 - 2026-01-02\n\n- Old.\n';
    const released = releasedChangelog(text, '1.1.0', '2026-03-04');
    expect(released).toBe(
      text.replace('## Unreleased\n', '## Unreleased\n\n## 1.1.0 - 2026-03-04\n'),
    );
    expect(releaseTimeMs(released, '1.1.0')).toBe(Date.UTC(2026, 2, 4));
    expect(() => releasedChangelog(released, '1.2.0', '2026-03-05')).toThrow(
      'no unreleased changes',
    );
    expect(() => releasedChangelog(text, '1.0.0', '2026-03-05')).toThrow('1.0.0 already');
  });

  describe('its artefacts', () => {
    let version: string;
    const outputs = () => ['first', 'second'].map((name) => path.join(folder, name));
    beforeAll(async () => {
      await buildProduct();
      version = await presentVersion(root);
      for (const output of outputs()) {
        await writeArtefacts({
          root,
          output,
          version,
          revision: 'unknown',
          timeMs: Date.UTC(2026, 0, 1),
          // Their own test makes images of all processors.
          architectures: [],
          debian: { folder: '', log: () => undefined },
          gzipLevel: 1,
        });
      }
    }, ARTEFACTS_MS);
    const read = (name: string) => readFile(path.join(folder, 'first', name), 'utf8');

    it('say which version they are of, whatever the sources say by now', async () => {
      expect(await releasedVersion(path.join(folder, 'first'))).toBe(version);
      await expect(releasedVersion(root)).rejects.toThrow('must have one file images-');
    });

    it('are the same if they are made again', async () => {
      const [first, second] = await Promise.all(
        outputs().map((output) => readFile(path.join(output, 'SHA256SUMS'), 'utf8')),
      );
      expect(first?.trim().split('\n')).toHaveLength(11);
      expect(second).toBe(first);
    });

    it.each(['gateway-control-plane', 'gateway-data-plane', 'gwctl'])(
      'have a valid bill of materials of %s',
      async (name) => {
        const text = await read(`${name}-${version}.cdx.json`);
        const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
        expect(await validator.validate(text)).toBeNull();
        const names = bill.parse(JSON.parse(text)).components.map((one) => one.name);
        expect(names).toContain('zod');
        // The console is served by the control plane.
        expect(names.includes('react')).toBe(name === 'gateway-control-plane');
        expect(names.includes('commander')).toBe(name === 'gwctl');
        expect(names).not.toContain('jest');
      },
    );

    it('have planes that start, and deployment files without sources', async () => {
      const output = path.join(folder, 'first');
      for (const name of ['control-plane', 'data-plane', 'deploy']) {
        const archive = `gateway-${name}-${version}.tar.gz`;
        const { code } = await runCommand('tar', ['-xzf', archive], {
          cwd: output,
          timeoutMs: 10_000,
        });
        expect(code).toBe(0);
      }
      for (const plane of ['control-plane', 'data-plane']) {
        const start = path.join(output, `gateway-${plane}-${version}`, 'start');
        const env = { PATH: `${path.dirname(process.execPath)}:${process.env['PATH']}` };
        const started = await runCommand(start, [], { env, timeoutMs: 30_000 });
        expect(started.output).toContain('cannot start: GATEWAY_MASTER_KEYS is not set');
      }
      const deployed = await readdir(path.join(output, `gateway-deploy-${version}`), {
        recursive: true,
      });
      expect(deployed).toContain('deploy/kubernetes/base/kustomization.yaml');
      expect(deployed).toContain('deploy/kubernetes/make-secrets.sh');
      expect(deployed).toContain('deploy/smoke-test.sh');
      const oneMachine = await readdir(path.join(root, 'deploy/one-machine'));
      for (const file of oneMachine.filter((one) => !one.endsWith('.ts'))) {
        expect(deployed).toContain(`deploy/one-machine/${file}`);
      }
      expect(deployed).toContain('LICENSE');
      expect(deployed.filter((file) => /\.ts$|secrets$|node_modules/.test(file))).toEqual([]);
      // Nothing is built from it, and every file that it mounts is in it.
      const deploy = path.join(output, `gateway-deploy-${version}`, 'deploy');
      const compose = await readFile(path.join(deploy, 'compose.yaml'), 'utf8');
      expect(compose).not.toContain('build:');
      const mounted = [...compose.matchAll(/'?(\.\/[^:'\s]+):/g)].map(([, file = '']) => file);
      const made = mounted.filter((file) => !file.includes('/secrets/'));
      expect(made.length).toBeGreaterThan(2);
      for (const file of made) expect(existsSync(path.join(deploy, file))).toBe(true);
    });
  });
});
