import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { installedPackages } from '../harness/npm-packages.ts';
import {
  outcome,
  type Observations,
  type Pair,
  type StartedServer,
  type Target,
} from '../harness/pair.ts';
import { startServer, type Received } from '../harness/server.ts';
import { isSigned, type SigningKey } from '../harness/signed-request.ts';

const PACKAGES = {
  '@aws-sdk/client-s3': '3.1169.0',
  '@aws-sdk/s3-request-presigner': '3.1169.0',
};
const REGION = 'eu-central-1';
/** With what clients and servers write in more than one way. */
const KEY = "folder/a b+c~(ü)*'.txt";
const BYTES = 3_000_000;

const direct: Observations = {
  'PUT, a buffer': 'done',
  'PUT, a stream': 'done',
  'GET, a key with spaces and an umlaut': 'found',
  'list, with a prefix': 'done',
  DELETE: 'done',
  'signed URL': '200',
};

const pair = (reach: 'name' | 'host', otherwise: Observations): Pair => ({
  client: 'AWS SDK (S3)',
  version: PACKAGES['@aws-sdk/client-s3'],
  variant: `by ${reach}`,
  reach,
  start,
  direct,
  otherwise,
});

/** The client signs each request with its host and path, and the server checks the signature. */
export const s3Pairs: readonly Pair[] = [
  pair('host', {}),
  pair('name', Object.fromEntries(Object.keys(direct).map((what) => [what, '403']))),
];

interface S3 {
  send(command: object): Promise<unknown>;
}

interface Sdk {
  readonly S3Client: new (options: object) => S3;
  readonly PutObjectCommand: CreateCommand;
  readonly GetObjectCommand: CreateCommand;
  readonly ListObjectsV2Command: CreateCommand;
  readonly DeleteObjectCommand: CreateCommand;
}

type CreateCommand = new (input: object) => object;
type SignUrl = (client: S3, command: object, options: object) => Promise<string>;

async function start(): Promise<StartedServer> {
  const load = await installedPackages(PACKAGES);
  const sdk = load('@aws-sdk/client-s3') as Sdk;
  const { getSignedUrl } = load('@aws-sdk/s3-request-presigner') as { getSignedUrl: SignUrl };
  const key = { id: 'test', secret: randomBytes(24).toString('base64url') };
  const server = await startServer((received, response) => answer(received, response, key));
  return {
    urls: [server.url],
    route: { auth: { type: 'none' }, rewrite: { host: 'preserve' }, locations: 'off' },
    use: (target) => use(target, sdk, getSignedUrl, key),
    close: () => server.close(),
  };
}

function answer(received: Received, response: ServerResponse, key: SigningKey): void {
  const { method, path } = received;
  const xml = (status: number, body: string) => {
    response.writeHead(status, { 'content-type': 'application/xml' }).end(body);
  };
  if (!isSigned(received, key)) xml(403, '<Error><Code>SignatureDoesNotMatch</Code></Error>');
  else if (path.includes('list-type=')) xml(200, '<ListBucketResult></ListBucketResult>');
  else if (method === 'DELETE') response.writeHead(204).end();
  else if (method === 'PUT') response.writeHead(200, { etag: '"1"' }).end();
  else response.end('content');
}

async function use({ url }: Target, sdk: Sdk, signUrl: SignUrl, { id, secret }: SigningKey) {
  const client = new sdk.S3Client({
    endpoint: url,
    region: REGION,
    forcePathStyle: true,
    credentials: { accessKeyId: id, secretAccessKey: secret },
    maxAttempts: 1,
  });
  const object = { Bucket: 'bucket', Key: KEY };
  const done = (command: object, word = 'done') =>
    outcome(async () => {
      try {
        await client.send(command);
        return word;
      } catch (error) {
        const { $metadata } = error as { $metadata?: { httpStatusCode?: number } };
        if ($metadata?.httpStatusCode === undefined) throw error;
        return String($metadata.httpStatusCode);
      }
    });
  const body = Buffer.alloc(BYTES, 's3');
  const stream = { ...object, Body: Readable.from([body.subarray(1), body.subarray(0, 1)]) };
  return {
    'PUT, a buffer': await done(new sdk.PutObjectCommand({ ...object, Body: body })),
    'PUT, a stream': await done(
      new sdk.PutObjectCommand({ ...stream, ContentLength: body.length }),
    ),
    'GET, a key with spaces and an umlaut': await done(new sdk.GetObjectCommand(object), 'found'),
    'list, with a prefix': await done(
      new sdk.ListObjectsV2Command({ Bucket: 'bucket', Prefix: 'folder/a b' }),
    ),
    DELETE: await done(new sdk.DeleteObjectCommand(object)),
    'signed URL': await outcome(async () => {
      const signed = await signUrl(client, new sdk.GetObjectCommand(object), { expiresIn: 60 });
      return String((await fetch(signed)).status);
    }),
  };
}
