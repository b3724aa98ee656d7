import { once } from 'node:events';
import { connect, type ClientHttp2Session } from 'node:http2';
import { expect, it } from '@jest/globals';
import { fuzzSettings, openFuzz } from '@gateway/shared/test/fuzz';
import fc from 'fast-check';
import { serveHttp2EachTest } from '../http2-world.ts';

type Fields = [name: string, value: string][];
/** One exchange: what is sent in both directions, and how large a table the caller allows from then on. */
interface Exchange {
  readonly request: Fields;
  readonly response: Fields;
  readonly status: number;
  readonly table: number | null;
}
const fuzz = openFuzz<Exchange[]>(new URL('fields.kept.json', import.meta.url), 100);

const world = serveHttp2EachTest({ limits: { maxHeaderBytes: 64 * 1024, maxFields: 1000 } });

/** Few names and values, so that they repeat: then tables matter. */
const name = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('accept', 'x-a', 'x-b', 'etag', 'authorization', 'via') },
  { weight: 1, arbitrary: fc.stringMatching(/^x-[a-z0-9!#$%&'*+.^_`|~-]{0,20}$/) },
);
const value = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('', 'a', 'no-cache', 'gzip, deflate', 'b'.repeat(200)) },
  {
    weight: 2,
    arbitrary: fc.stringMatching(
      /^[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]{0,60}[\x21-\x7e\x80-\xff])?$/,
    ),
  },
  { weight: 1, arbitrary: fc.integer({ min: 250, max: 5000 }).map((size) => 'v'.repeat(size)) },
);
const fields = fc.array(fc.tuple(name, value), { maxLength: 12 });
/** node:http2 refuses to send these twice in a request. */
const SINGLE = new Set(['authorization', 'etag']);
const withoutRepetitions = fields.map((all) =>
  all.filter(([one], at) => !SINGLE.has(one) || all.findIndex(([other]) => other === one) === at),
);
const exchange = fc.record({
  request: withoutRepetitions,
  response: fields,
  status: fc.constantFrom(200, 201, 206, 302, 404, 418, 500),
  table: fc.option(fc.constantFrom(0, 32, 100, 1000, 4096, 65_536), { freq: 4 }),
});

async function answer(session: ClientHttp2Session, request: Fields): Promise<Fields> {
  const pseudo = [':method', 'GET', ':scheme', 'http', ':authority', 'a', ':path', '/'];
  const raw = [...pseudo, ...request.flat()];
  const stream = session.request(raw);
  stream.resume();
  const [, , found] = (await once(stream, 'response')) as [object, number, string[]];
  await once(stream, 'close');
  const pairs: Fields = [];
  for (let index = 0; index < found.length; index += 2) {
    pairs.push([found[index] ?? '', found[index + 1] ?? '']);
  }
  return pairs;
}

it('fields arrive in both directions as nghttp2 has encoded and decodes them, whatever came before', async () => {
  let next: Exchange | undefined;
  let seen: readonly string[] = [];
  world.onExchange = (arrived) => {
    seen = arrived.head.fields;
    const { response = [], status = 200 } = next ?? {};
    arrived.respond(status, '', ['date', 'now', ...response.flat()], true);
  };
  const property = async (exchanges: Exchange[]) => {
    const session = connect(`http://127.0.0.1:${world.port}`, {
      settings: { maxHeaderListSize: 1_000_000 },
      maxHeaderListPairs: 1000,
    });
    try {
      for (next of exchanges) {
        const { table, request, response, status } = next;
        if (table !== null) session.settings({ headerTableSize: table });
        const found = await answer(session, request);
        expect(found).toEqual([[':status', String(status)], ['date', 'now'], ...response]);
        expect(seen).toEqual(['host', 'a', ...request.flat()]);
      }
    } finally {
      session.destroy();
    }
  };
  const inputs = fc.array(exchange, { minLength: 1, maxLength: 12 });
  await fc.assert(fc.asyncProperty(inputs, property), fuzzSettings(fuzz));
});
