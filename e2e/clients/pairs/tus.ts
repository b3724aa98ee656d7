import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { listen } from '@gateway/shared/test/upstream';
import { installedPackages } from '../harness/npm-packages.ts';
import {
  outcome,
  type Observations,
  type Pair,
  type StartedServer,
  type Target,
} from '../harness/pair.ts';
import { startInFolder } from '../harness/in-folder.ts';
import { createHealthyServer } from '../harness/server.ts';

const PACKAGES = { 'tus-js-client': '4.3.1', '@tus/server': '2.4.5', '@tus/file-store': '2.1.1' };
const FILE = Buffer.alloc(3_000_000, 'tus');
const CHUNK_BYTES = 1_000_000;

const direct: Observations = {
  'upload in three parts': 'complete',
  'upload that continues': 'complete',
};

const pair = (variant: string, options: object, reach: Pair['reach'] = 'name'): Pair => ({
  client: 'tus-js-client',
  version: PACKAGES['tus-js-client'],
  variant,
  reach,
  start: () => start(options),
  direct,
  otherwise: {},
});

/** Resumable uploads: the client sends its parts to the address that the server gives the upload in `Location`. */
export const tusPairs: readonly Pair[] = [
  pair('a server that writes its own address', {}),
  pair('a server that reads forwarded fields', { respectForwardedHeaders: true }),
  pair('a server that writes a path', { relativeLocation: true }),
  pair('by host', { respectForwardedHeaders: true }, 'host'),
];

/** The parts of the client that this test uses. */
interface Upload {
  url: string | null;
  start(): void;
  abort(): Promise<void>;
}

type UploadOptions = Readonly<Record<string, unknown>>;
type CreateUpload = new (file: Buffer, options: UploadOptions) => Upload;
type TusServer = new (options: object) => { handle: RequestListener };
type FileStore = new (options: object) => object;

async function start(options: object): Promise<StartedServer> {
  const load = await installedPackages(PACKAGES);
  const { Upload } = load('tus-js-client') as { Upload: CreateUpload };
  const { Server } = load('@tus/server') as { Server: TusServer };
  const { FileStore } = load('@tus/file-store') as { FileStore: FileStore };
  return startInFolder(async (directory) => {
    const store = new FileStore({ directory });
    const tus = new Server({ path: '/files', datastore: store, ...options });
    const { url, close } = await listen(
      createHealthyServer((request, response) => {
        tus.handle(request, response);
      }),
    );
    return { urls: [url], use: (target) => use(target, Upload, directory), close };
  });
}

async function use({ url, token }: Target, Client: CreateUpload, directory: string) {
  const headers = { authorization: `Bearer ${token}` };
  const options = { endpoint: `${url}/files/`, headers, chunkSize: CHUNK_BYTES, retryDelays: null };
  /** Uploads, and compares what the server stored. */
  const upload = async (more: UploadOptions) => {
    const at = await finished(Client, { ...options, ...more });
    const id = at.slice(at.lastIndexOf('/') + 1);
    const stored = await readFile(`${directory}/${id}`);
    return digest(stored) === digest(FILE) ? 'complete' : `${stored.length} bytes`;
  };
  return {
    'upload in three parts': await outcome(() => upload({})),
    'upload that continues': await outcome(async () => {
      const uploadUrl = await begun(Client, options);
      return upload({ uploadUrl });
    }),
  };
}

/** The address of the upload when it has ended. */
function finished(Client: CreateUpload, options: UploadOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const upload = new Client(FILE, {
      ...options,
      onSuccess: () => resolve(upload.url ?? ''),
      onError: reject,
    });
    upload.start();
  });
}

/** The address of an upload of which the server has the first part only. */
function begun(Client: CreateUpload, options: UploadOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const upload = new Client(FILE, {
      ...options,
      onChunkComplete() {
        void upload.abort().then(() => resolve(upload.url ?? ''), reject);
      },
      onError: reject,
    });
    upload.start();
  });
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
