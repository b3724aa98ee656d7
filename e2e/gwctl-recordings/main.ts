/**
 * Records gwctl in a terminal, against a real gateway with a day of traffic, as pictures for the documentation. The first
 * argument is the folder, by default docs/images; further ones are names of recordings, if not all are wanted.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { fillScene } from '../console/screenshots/scene.ts';
import { startShopUpstream } from '../console/screenshots/shop-upstream.ts';
import { startGateway } from '../harness/gateway.ts';
import { RECORDINGS } from './recordings.ts';
import { screenOf } from './screen.ts';
import { terminalSvg } from './terminal-svg.ts';

const IMAGES = fileURLToPath(new URL('../../docs/images', import.meta.url));
const COLUMNS = 100;

const USAGE = `usage: npm run gwctl:recordings -- [folder [recording ...]]
recordings: ${[...RECORDINGS.keys()].join(', ')}
`;

async function main(): Promise<void> {
  const [folder = IMAGES, ...names] = process.argv.slice(2);
  if (folder.startsWith('-') || names.some((name) => !RECORDINGS.has(name))) {
    process.stderr.write(USAGE);
    process.exit(2);
  }
  await mkdir(folder, { recursive: true });
  const gateway = await startGateway({
    dataPlanes: 2,
    dataPlaneStart: (_stack, index) => ({ env: { REGION: index === 0 ? 'eu-west' : 'us-east' } }),
  });
  const upstream = await startShopUpstream();
  try {
    const scene = await fillScene(gateway, upstream);
    const { baseUrl, token } = gateway.admin;
    for (const [name, linesOf] of RECORDINGS) {
      if (names.length > 0 && !names.includes(name)) continue;
      const screens = [];
      for (const line of linesOf(scene)) {
        screens.push(await screenOf(line, { columns: COLUMNS, url: baseUrl, token }));
      }
      const file = path.join(folder, `gwctl-${name}.svg`);
      await writeFile(file, terminalSvg(screens, COLUMNS));
      process.stdout.write(`${file}\n`);
    }
  } finally {
    await gateway.close();
    await upstream.close();
  }
}

await main();
