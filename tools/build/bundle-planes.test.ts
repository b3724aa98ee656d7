import { expect, it } from '@jest/globals';
import { runCommand } from '../process/run-command.ts';
import { BUNDLED, builtPlane } from './built-planes.ts';

/** Says at the end of a process whether it has loaded Node's own undici, which takes longer than all other modules. */
const WATCH = `data:text/javascript,${encodeURIComponent(
  `process.on('exit', () => console.log('undici loaded:', process.moduleLoadList.some((name) => name.includes('undici'))));`,
)}`;

it.each(BUNDLED)(
  'the %s starts without undici',
  async (plane) => {
    const main = await builtPlane(plane);
    const { output } = await runCommand(process.execPath, ['--import', WATCH, main], {
      timeoutMs: 30_000,
      env: {},
    });
    expect(output).toMatch(/undici loaded: false/);
  },
  120_000,
);
