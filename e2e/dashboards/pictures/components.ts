import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { cachePath } from '@gateway/tools/cache-path.mjs';

/** The last release of Grafana whose package has the graph of a panel. */
const PACKAGES = [
  '@grafana/ui@10.4.19',
  '@grafana/data@10.4.19',
  'react@18.3.1',
  'react-dom@18.3.1',
];
const BUNDLER = 'esbuild@0.25.12';
const SOURCE = new URL('draw.jsx', import.meta.url);

/** The script and the style sheet that draw a dashboard. The packages are installed once for this user, without their scripts. */
export function drawingFiles(): { readonly script: string; readonly style: string } {
  const folder = cachePath('grafana-components');
  mkdirSync(folder, { recursive: true });
  const run = (command: string, args: readonly string[]) =>
    execFileSync(command, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  writeFileSync(path.join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...PACKAGES, BUNDLER]);
  copyFileSync(SOURCE, path.join(folder, 'draw.jsx'));
  run('npx', [
    'esbuild',
    'draw.jsx',
    '--bundle',
    '--outfile=draw.js',
    '--loader:.svg=dataurl',
    '--loader:.woff2=dataurl',
    '--define:process.env.NODE_ENV="production"',
    '--define:global=window',
    '--log-level=warning',
  ]);
  const read = (name: string) => readFileSync(path.join(folder, name), 'utf8');
  return { script: read('draw.js'), style: read('draw.css') };
}
