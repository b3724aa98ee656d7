import { Argument, Command } from 'commander';
import { createClient, type GatewayClient } from '@gateway/client';
import { readContexts } from '../../contexts/context-file.ts';
import { selectContext } from '../../contexts/select-context.ts';
import { NAME_KINDS, type NameKind } from '../../completion/name-kinds.ts';
import { printable } from '../../output/printable.ts';
import { USER_AGENT, type Cli } from '../../session.ts';

/** Who presses Tab does not wait longer. */
const TIMEOUT_MS = 1500;
/** More than a terminal shows. */
const MAX_NAMES = 1000;

/**
 * `gwctl __names`, for completion scripts: a name on each line. What goes wrong is no name; the shell is in the middle of a
 * line, where an error would only disturb.
 */
export const namesCommand = ({ terminal }: Cli): Command =>
  new Command('__names')
    .description('Prints names for the completion of a shell.')
    .addArgument(new Argument('<kind>', 'the kind of names').choices(NAME_KINDS))
    .argument('[words...]', 'the words of the command line so far')
    .action(async (kind: NameKind, words: readonly string[]) => {
      const names = await readNames(kind, words, terminal.env).catch(() => []);
      // A line break in a name would be two names.
      const lines = names.filter((name) => printable(name) === name);
      terminal.out(lines.map((name) => `${name}\n`).join(''));
    });

async function readNames(
  kind: NameKind,
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<string[]> {
  if (kind === 'context') return Object.keys(readContexts(env).contexts);
  const {
    url,
    token,
    environment: usual,
  } = selectContext({
    env,
    named: valueOf(words, '--context'),
  });
  const environment = valueOf(words, '--environment') ?? usual;
  const client = createClient({
    baseUrl: url,
    token,
    userAgent: USER_AGENT,
    timeoutMs: TIMEOUT_MS,
  });
  const names: string[] = [];
  for await (const { name } of listOf(kind, client, environment)) {
    names.push(name);
    if (names.length >= MAX_NAMES) break;
  }
  return names;
}

function listOf(
  kind: Exclude<NameKind, 'context'>,
  client: GatewayClient,
  environment: string | undefined,
): AsyncIterable<{ readonly name: string }> {
  const query = { limit: 200, ...(environment === undefined ? {} : { environment }) };
  if (kind === 'route') return client.list('/v1/routes', { params: { query } });
  if (kind === 'service') return client.list('/v1/services', { params: { query } });
  const all = { params: { query: { limit: 200 } } };
  if (kind === 'token') return client.list('/v1/tokens', all);
  return client.list('/v1/environments', all);
}

/** The value of an option among the words, also as `--option=value`. */
function valueOf(words: readonly string[], option: string): string | undefined {
  const at = words.indexOf(option);
  const value = at < 0 ? undefined : words[at + 1];
  const joined = words.find((word) => word.startsWith(`${option}=`))?.slice(option.length + 1);
  return (value ?? joined) || undefined;
}
