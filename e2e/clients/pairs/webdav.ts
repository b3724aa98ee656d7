import { startApache } from '../harness/apache.ts';
import { startInFolder } from '../harness/in-folder.ts';
import { installedPackages } from '../harness/npm-packages.ts';
import {
  outcome,
  type Observations,
  type Pair,
  type StartedServer,
  type Target,
} from '../harness/pair.ts';

const PACKAGES = { webdav: '5.10.0' };
const METHODS = [
  'GET',
  'HEAD',
  'PUT',
  'DELETE',
  'OPTIONS',
  'PROPFIND',
  'MKCOL',
  'COPY',
  'MOVE',
  'LOCK',
  'UNLOCK',
];

const direct: Observations = {
  'PUT and GET': 'the same bytes',
  'MKCOL and PROPFIND': '/folder/a b.txt',
  'COPY, to an address in `Destination`': 'the same bytes',
  'MOVE, to an address in `Destination`': 'the same bytes',
  'PUT without the lock, PUT with it': '423, then done',
  DELETE: '404 afterwards',
};

const pair = (reach: 'name' | 'host', otherwise: Observations): Pair => ({
  client: 'webdav',
  version: PACKAGES.webdav,
  variant: `by ${reach}`,
  reach,
  start,
  direct,
  otherwise,
});

/** WebDAV: addresses stand in request fields (`Destination`) and in bodies. */
export const webdavPairs: readonly Pair[] = [
  pair('host', {}),
  pair('name', {
    'MKCOL and PROPFIND': '/../../../folder,/../../../folder/a b.txt',
    'COPY, to an address in `Destination`': '409',
    'MOVE, to an address in `Destination`': '500',
  }),
];

/** The parts of the client that this test uses. */
interface Client {
  putFileContents(path: string, data: string, options?: object): Promise<boolean>;
  getFileContents(path: string, options: object): Promise<string>;
  createDirectory(path: string): Promise<void>;
  getDirectoryContents(path: string): Promise<readonly { readonly filename: string }[]>;
  copyFile(from: string, to: string): Promise<void>;
  moveFile(from: string, to: string): Promise<void>;
  lock(path: string): Promise<{ readonly token: string }>;
  unlock(path: string, token: string): Promise<void>;
  deleteFile(path: string): Promise<void>;
}

type CreateClient = (url: string, options: object) => Client;

async function start(): Promise<StartedServer> {
  const load = await installedPackages(PACKAGES);
  const { createClient } = load('webdav') as { createClient: CreateClient };
  return startInFolder(async (folder) => {
    const { url, stop } = await startApache(folder, ['Require all granted', 'Dav On']);
    return {
      urls: [url],
      route: { methods: METHODS, rewrite: { host: 'preserve' } },
      use: (target) => use(target, createClient),
      close: stop,
    };
  });
}

async function use({ url, token }: Target, createClient: CreateClient) {
  const client = createClient(url, { headers: { authorization: `Bearer ${token}` } });
  const read = async (path: string) => {
    const text = await client.getFileContents(path, { format: 'text' });
    return text === 'content' ? 'the same bytes' : text;
  };
  return {
    'PUT and GET': await outcome(async () => {
      await client.putFileContents('/file.txt', 'content');
      return read('/file.txt');
    }),
    'MKCOL and PROPFIND': await outcome(async () => {
      await client.createDirectory('/folder');
      await client.putFileContents('/folder/a b.txt', 'content');
      return (await client.getDirectoryContents('/folder')).map((one) => one.filename).join();
    }),
    'COPY, to an address in `Destination`': await outcome(async () => {
      await client.copyFile('/file.txt', '/folder/copy.txt');
      return read('/folder/copy.txt');
    }),
    'MOVE, to an address in `Destination`': await outcome(async () => {
      await client.moveFile('/file.txt', '/folder/moved.txt');
      return read('/folder/moved.txt');
    }),
    'PUT without the lock, PUT with it': await outcome(async () => {
      const { token: lock } = await client.lock('/folder/a b.txt');
      const write = (headers: object) =>
        outcome(async () => {
          await client.putFileContents('/folder/a b.txt', 'other', { headers });
          return 'done';
        });
      const written = `${await write({})}, then ${await write({ If: `(<${lock}>)` })}`;
      // The client sends it as it is, and Apache wants the brackets of RFC 4918 section 10.5.
      await client.unlock('/folder/a b.txt', `<${lock}>`);
      return written;
    }),
    DELETE: await outcome(async () => {
      await client.deleteFile('/folder/a b.txt');
      return `${await outcome(() => read('/folder/a b.txt'))} afterwards`;
    }),
  };
}
