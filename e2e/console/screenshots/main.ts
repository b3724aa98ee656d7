/**
 * Takes a picture of every page of the console, with a day of traffic, in both themes at 1280, 390 and 1920 px. The first
 * argument is the folder; further ones are names of pictures, of themes and widths, if not all are wanted, such as
 * `/tmp/pictures dark 390 requests request`.
 */
import { mkdir } from 'node:fs/promises';
import { startConsoleWorld } from '../harness/console-world.ts';
import { picturesOf } from './pages.ts';
import { fillScene, startTraffic } from './scene.ts';
import { startShopUpstream } from './shop-upstream.ts';
import { takePictures, THEMES, WIDTHS, type Look } from './take-pictures.ts';

const TRAFFIC_EVERY_MS = 400;

/** So that pages show their links to other tools. */
const TOOLS = {
  GRAFANA_URL: 'https://grafana.example.com',
  TRACE_URL_TEMPLATE: 'https://traces.example.com/trace/{trace_id}',
  LOGS_URL_TEMPLATE: 'https://logs.example.com/?q={request_id}',
};

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Those that are wanted, or all. */
function chosen<Of extends string | number>(
  all: readonly Of[],
  words: readonly string[],
): readonly Of[] {
  const wanted = all.filter((one) => words.includes(String(one)));
  return wanted.length === 0 ? all : wanted;
}

async function main(): Promise<void> {
  const [folder, ...words] = process.argv.slice(2);
  if (folder === undefined) {
    process.stderr.write(
      'usage: npm run console:screenshots -- <folder> [theme ...] [width ...] [picture ...]\n',
    );
    process.exit(2);
  }
  const looks = chosen(THEMES, words).flatMap((colorScheme) =>
    chosen(WIDTHS, words).map((width): Look => ({ colorScheme, width })),
  );
  await mkdir(folder, { recursive: true });
  const world = await startConsoleWorld({
    dataPlanes: 2,
    controlPlaneStart: { env: TOOLS },
    dataPlaneStart: (_stack, index) => ({ env: { REGION: index === 0 ? 'eu-west' : 'us-east' } }),
  });
  const upstream = await startShopUpstream();
  try {
    const scene = await fillScene(world.gateway, upstream);
    const stop = startTraffic(world.gateway, TRAFFIC_EVERY_MS);
    const all = picturesOf(scene);
    const names = chosen(
      all.map(({ name }) => name),
      words,
    );
    const pictures = all.filter(({ name }) => names.includes(name));
    await takePictures(world, pictures, looks, folder, say).finally(stop);
  } finally {
    await world.close();
    await upstream.close();
  }
}

await main();
