import type { RequestListener } from 'node:http';
import { listen } from '@gateway/shared/test/upstream';
import { installedPackages, type Load } from '../harness/npm-packages.ts';
import { outcome, type Pair, type StartedServer, type Target } from '../harness/pair.ts';
import { createHealthyServer } from '../harness/server.ts';

const PACKAGES = {
  'pouchdb-core': '9.0.0',
  'pouchdb-adapter-http': '9.0.0',
  'pouchdb-adapter-memory': '9.0.0',
  'pouchdb-replication': '9.0.0',
  'express-pouchdb': '4.2.0',
  express: '4.21.2',
};
const DOCUMENTS = 300;
const ATTACHMENT_BYTES = 500_000;
const ROUTE_TIMEOUT_MS = 1000;

/** PouchDB, and a server of CouchDB's API. */
export const pouchdb: Pair = {
  client: 'PouchDB',
  version: PACKAGES['pouchdb-core'],
  start,
  direct: {
    'document, id with a slash and an umlaut': 'found',
    attachment: `${ATTACHMENT_BYTES} bytes`,
    'replication to the server': `${DOCUMENTS} documents`,
    'replication from the server': 'all documents',
    'live changes': 'a change arrives',
    'live changes, quiet for longer than `timeout_ms`': 'a change arrives',
  },
  otherwise: {},
};

/** The parts of PouchDB that this test uses. */
interface Database {
  put(document: object): Promise<{ id: string }>;
  get(id: string): Promise<object>;
  bulkDocs(documents: readonly object[]): Promise<unknown>;
  putAttachment(...attachment: [string, string, Buffer, string]): Promise<unknown>;
  getAttachment(id: string, name: string): Promise<Buffer>;
  changes(options: object): Changes;
  info(): Promise<{ doc_count: number }>;
  replicate: {
    to(other: Database): Promise<{ docs_written: number }>;
    from(other: Database): Promise<{ docs_written: number }>;
  };
}

interface Changes {
  on(event: string, listener: (value: { id: string }) => void): Changes;
  cancel(): void;
}

interface PouchDb {
  new (name: string, options: object): Database;
  plugin(plugin: unknown): PouchDb;
  defaults(options: object): PouchDb;
  fetch(url: string, options: { headers: Headers }): Promise<Response>;
}

let loading: Promise<{ readonly core: PouchDb; readonly couch: RequestListener }> | undefined;
let databases = 0;

/** Loads PouchDB and one server for all runs, because neither can get its plugins twice. */
async function loadPouchDb() {
  const load = await installedPackages(PACKAGES);
  const core = load('pouchdb-core') as PouchDb;
  const plugins = ['pouchdb-adapter-http', 'pouchdb-adapter-memory', 'pouchdb-replication'];
  for (const plugin of plugins) core.plugin(load(plugin));
  return { core, couch: createCouch(load, core) };
}

function createCouch(load: Load, core: PouchDb): RequestListener {
  const app = (load('express') as () => { use(handler: unknown): void } & RequestListener)();
  const handler = load('express-pouchdb') as (core: PouchDb, options: object) => unknown;
  const options = { mode: 'minimumForPouchDB', inMemoryConfig: true, logPath: '/dev/null' };
  app.use(handler(core.defaults({ adapter: 'memory', prefix: 'server-' }), options));
  return app;
}

async function start(): Promise<StartedServer> {
  const { core, couch } = await (loading ??= loadPouchDb());
  const name = `books-${(databases += 1)}`;
  const server = await listen(createHealthyServer(couch));
  return {
    urls: [server.url],
    route: { timeout_ms: ROUTE_TIMEOUT_MS },
    use: (target) => use(target, core, name),
    close: () => server.close(),
  };
}

async function use({ url, token }: Target, core: PouchDb, name: string) {
  const local = (kind: string) => new core(`${kind}-${name}`, { adapter: 'memory' });
  const remote = new core(`${url}/${name}`, {
    adapter: 'http',
    fetch(address: string, options: { headers: Headers }) {
      options.headers.set('authorization', `Bearer ${token}`);
      return core.fetch(address, options);
    },
  });
  /** Resolves when the change that `write` makes arrives on a live feed. */
  const changeOf = async (id: string, pauseMs: number) => {
    const arrived = Promise.withResolvers<string>();
    const changes = remote.changes({ live: true, since: 'now' });
    changes.on('change', () => arrived.resolve('a change arrives'));
    changes.on('error', (error) => arrived.reject(error));
    setTimeout(() => void remote.put({ _id: id }).catch(arrived.reject), pauseMs);
    return arrived.promise.finally(() => changes.cancel());
  };
  return {
    'document, id with a slash and an umlaut': await outcome(async () => {
      const { id } = await remote.put({ _id: 'a/bü' });
      await remote.get(id);
      return 'found';
    }),
    attachment: await outcome(async () => {
      const data = Buffer.alloc(ATTACHMENT_BYTES, 1);
      await remote.putAttachment('file', 'file.bin', data, 'application/octet-stream');
      return `${(await remote.getAttachment('file', 'file.bin')).length} bytes`;
    }),
    'replication to the server': await outcome(async () => {
      const source = local('source');
      await source.bulkDocs(Array.from({ length: DOCUMENTS }, (_, at) => ({ _id: `d${at}` })));
      return `${(await source.replicate.to(remote)).docs_written} documents`;
    }),
    'replication from the server': await outcome(async () => {
      const target = local('target');
      await target.replicate.from(remote);
      const [here, there] = await Promise.all([target.info(), remote.info()]);
      return here.doc_count === there.doc_count ? 'all documents' : `${here.doc_count} documents`;
    }),
    'live changes': await outcome(() => changeOf('soon', ROUTE_TIMEOUT_MS / 4)),
    'live changes, quiet for longer than `timeout_ms`': await outcome(() =>
      changeOf('late', ROUTE_TIMEOUT_MS * 2),
    ),
  };
}
