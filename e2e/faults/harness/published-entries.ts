import { NAMES } from '@gateway/shared/messaging/names';
import { connect } from '@nats-io/transport-node';
import { z } from 'zod';

const changesSchema = z.object({ put: z.array(z.object({ id: z.string() })) });
const entrySchema = z.object({
  kind: z.enum(['delta', 'snapshot']),
  format: z.int(),
  environment: z.string(),
  version: z.int(),
  services: changesSchema.optional(),
});
const infoSchema = z.object({ state: z.object({ first_seq: z.int(), last_seq: z.int() }) });
const messageSchema = z.object({ message: z.object({ data: z.base64() }).optional() });

/** One version of an environment, as data planes receive it. */
export type PublishedEntry = z.infer<typeof entrySchema>;

/** Everything that NATS has accepted into the log of configurations. */
export async function publishedEntries(natsUrl: string): Promise<readonly PublishedEntry[]> {
  const connection = await connect({ servers: natsUrl.split(',') });
  const ask = async (what: string, body: object) =>
    (
      await connection.request(`$JS.API.STREAM.${what}.${NAMES.configLog}`, JSON.stringify(body))
    ).json();
  try {
    const { state } = infoSchema.parse(await ask('INFO', {}));
    const entries: PublishedEntry[] = [];
    for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
      const { message } = messageSchema.parse(await ask('MSG.GET', { seq }));
      if (message === undefined) continue;
      const text = Buffer.from(message.data, 'base64').toString('utf8');
      // The first line is the signature.
      entries.push(entrySchema.parse(JSON.parse(text.slice(text.indexOf('\n') + 1))));
    }
    return entries;
  } finally {
    await connection.close();
  }
}

/**
 * How many versions were published twice, how many changes of services stand in several deltas, and how many entries
 * publish everything again.
 *
 * @param entries after the first ones, which are snapshots
 */
export function repeatsOf(entries: readonly PublishedEntry[]): {
  versions: number;
  changes: number;
  snapshots: number;
} {
  const versions = entries.map(({ environment, version }) => `${environment} ${version}`);
  const changes = entries.flatMap(({ services }) => (services?.put ?? []).map(({ id }) => id));
  return {
    versions: versions.length - new Set(versions).size,
    changes: changes.length - new Set(changes).size,
    snapshots: entries.filter(({ kind }) => kind === 'snapshot').length,
  };
}
