import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import OpenAI, { toFile } from 'openai';
import { outcome, type Pair, type StartedServer, type Target } from '../harness/pair.ts';
import { pinnedVersion } from '../harness/pinned-version.ts';
import { sendJson, startServer } from '../harness/server.ts';

const ID_OF_SERVER = 'request-of-the-server';
const PARTS = ['one', 'two', 'three'];
const FILE_BYTES = 200_000;
const AUDIO_BYTES = 300_000;

/** OpenAI's SDK, and a server that does what the name of the model says. */
export const openai: Pair = {
  client: 'OpenAI SDK',
  version: pinnedVersion('openai'),
  start,
  direct: {
    stream: 'each part arrives when it is sent',
    'abort of a stream': 'the server sees it',
    '429, then 200': 'answered, 2 requests',
    '500, then 200': 'answered, 2 requests',
    'connection closed, then 200': 'answered, 2 requests',
    'refused request': '400 invalid_value',
    'upload of a file': `${FILE_BYTES} bytes`,
    'download of audio': `${AUDIO_BYTES} bytes`,
    'option `idempotencyKey`': 'sends no key',
    'header `Idempotency-Key`': 'sends a key',
    '`_request_id`': 'of the server',
  },
  otherwise: {
    '`_request_id`': 'of the gateway',
  },
};

async function start(): Promise<StartedServer> {
  const events = new EventEmitter();
  const counts = new Map<string, number>();
  const server = await startServer(async ({ request, path, body }, response) => {
    if (path === '/v1/files') {
      sendJson(response, 200, { id: 'file-1', bytes: fileBytes(body) });
      return;
    }
    if (path === '/v1/audio/speech') {
      response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(Buffer.alloc(AUDIO_BYTES, 7));
      return;
    }
    const { model } = JSON.parse(body.toString()) as { model: string };
    const count = (counts.get(model) ?? 0) + 1;
    counts.set(model, count);
    const key = request.headers['idempotency-key'] !== undefined;
    if (model === 'stream' || model === 'endless') await sendParts(response, events);
    else if (model === 'refused') sendJson(response, 400, { error: { code: 'invalid_value' } });
    else if (count > 1 || model === 'usual') {
      sendJson(response, 200, { count, key }, { 'x-request-id': ID_OF_SERVER });
    } else if (model === 'closed') request.socket.destroy();
    else sendJson(response, Number(model), {}, { 'retry-after-ms': '1' });
  });
  return { urls: [server.url], close: () => server.close(), use: (target) => use(target, events) };
}

/** Sends each part when the client has received the one before. */
async function sendParts(response: ServerResponse, events: EventEmitter): Promise<void> {
  response.on('close', () => events.emit(response.writableEnded ? 'ended' : 'aborted'));
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const content of PARTS) {
    const received = once(events, 'received');
    response.write(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`);
    await received;
  }
  response.end('data: [DONE]\n\n');
}

function fileBytes(form: Buffer): number {
  const [, file = ''] = form.toString('latin1').split('name="file"');
  const begin = file.indexOf('\r\n\r\n') + 4;
  return file.indexOf('\r\n--', begin) - begin;
}

async function use({ url, token }: Target, events: EventEmitter) {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: token });
  const ask = async (model: string, options = {}) =>
    (await client.chat.completions.create({ model, messages: [] }, options)) as unknown as Answer;
  const stream = (model: string) =>
    client.chat.completions.create({ model, messages: [], stream: true });
  const recover = (model: string) =>
    outcome(async () => `answered, ${(await ask(model)).count} requests`);
  const sendsKey = (options: object) =>
    outcome(async () => ((await ask('usual', options)).key ? 'sends a key' : 'sends no key'));

  return {
    stream: await outcome(async () => {
      const words: unknown[] = [];
      for await (const chunk of await stream('stream')) {
        words.push(chunk.choices[0]?.delta.content);
        events.emit('received');
      }
      return words.join() === PARTS.join() ? 'each part arrives when it is sent' : words.join();
    }),
    'abort of a stream': await outcome(async () => {
      const aborted = once(events, 'aborted');
      for await (const _chunk of await stream('endless')) break;
      await aborted;
      return 'the server sees it';
    }),
    '429, then 200': await recover('429'),
    '500, then 200': await recover('500'),
    'connection closed, then 200': await recover('closed'),
    'refused request': await ask('refused').then(
      () => 'answered',
      (error: unknown) => {
        const { status, code } = error as { status: number; code: string };
        return `${status} ${code}`;
      },
    ),
    'upload of a file': await outcome(async () => {
      const file = await toFile(Buffer.alloc(FILE_BYTES, 'a'), 'lines.jsonl');
      return `${(await client.files.create({ file, purpose: 'batch' })).bytes} bytes`;
    }),
    'download of audio': await outcome(async () => {
      const speech = await client.audio.speech.create({ model: 'tts', voice: 'alloy', input: '' });
      return `${(await speech.arrayBuffer()).byteLength} bytes`;
    }),
    'option `idempotencyKey`': await sendsKey({ idempotencyKey: 'order-1' }),
    'header `Idempotency-Key`': await sendsKey({ headers: { 'Idempotency-Key': 'order-1' } }),
    '`_request_id`': await outcome(async () => {
      const id = (await ask('usual'))._request_id;
      return id === ID_OF_SERVER ? 'of the server' : id?.replace(/^req_.*/, 'of the gateway');
    }),
  };
}

interface Answer {
  readonly count: number;
  readonly key: boolean;
  readonly _request_id?: string | null;
}
