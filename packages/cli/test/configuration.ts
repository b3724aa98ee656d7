import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startTestApi, type TestApi } from '@gateway/control-plane/test/api';
import type { Terminal } from '../src/terminal/terminal.ts';
import { runInProcess } from './run-in-process.ts';
import type { Ran } from './run-in-process.ts';

/** An API with a folder for files, and gwctl that is logged in to it as the admin. */
export interface ConfigurationTest {
  readonly api: TestApi;
  /** Creates an environment and returns its name. */
  newEnvironment(): Promise<string>;
  /** Writes a file and returns its path. */
  write(name: string, text: string): string;
  /** Runs a command line; its arguments have no spaces. */
  run(line: string, terminal?: Partial<Terminal> & { readonly stdin?: string }): Promise<Ran>;
  close(): Promise<void>;
}

export async function openConfigurationTest(): Promise<ConfigurationTest> {
  const api = await startTestApi();
  const folder = mkdtempSync(path.join(tmpdir(), 'gwctl-files-'));
  let environments = 0;
  return {
    api,
    async newEnvironment() {
      const name = `env-${(environments += 1)}`;
      await api.call('POST', '/v1/environments', { body: { name } });
      return name;
    },
    write(name, text) {
      const file = path.join(folder, name);
      writeFileSync(file, text);
      return file;
    },
    run: (line, { env = {}, ...terminal } = {}) =>
      runInProcess(line.split(' '), {
        env: { GATEWAY_URL: api.url, GATEWAY_TOKEN: api.adminToken, ...env },
        ...terminal,
      }),
    async close() {
      rmSync(folder, { recursive: true });
      await api.close();
    },
  };
}
