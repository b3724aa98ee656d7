import { Option, type Command } from 'commander';
import { collect } from '../../input/body-options.ts';
import { faultText, readManifest, type Manifest } from '../../manifest/manifest.ts';
import { readSources } from '../../manifest/read-sources.ts';
import { replaceReferences, type Replaced } from '../../manifest/replace-references.ts';
import { UsageError } from '../../program/exit-codes.ts';
import type { Session } from '../../session.ts';
import { checkFromOptions, manifestOfEnvironment, type FromOptions } from './from-environment.ts';

export interface FileOptions extends FromOptions {
  readonly file?: readonly string[];
  readonly requireSecrets?: true;
}

export const FILES_HELP =
  'a YAML or JSON file, a directory of them, or - for stdin; may be repeated';

/** Adds the options of the commands that read files of services and routes. */
export const withFileOptions = (command: Command): Command =>
  command
    .option('-f, --file <file>', FILES_HELP, collect)
    .option('--from <environment>', 'instead of files: what this environment has')
    .addOption(
      new Option('--only <kind>', 'with --from: only these').choices(['services', 'routes']),
    )
    .option('--route <route>', 'with --from: only this route; may be repeated', collect)
    .option('--prune', 'delete services and routes that the files do not have')
    .option('--require-secrets', 'fail if the variable of a secret is not set');

/** An apply of so many resources takes some seconds, and waits for other changes. */
export const APPLY_TIMEOUT_MS = 120_000;

/** What files declare for an environment. */
export interface DesiredState extends Replaced {
  readonly manifest: Manifest;
  readonly environment: string;
  readonly prune: boolean;
}

/** Reads the files of a command, or the environment of `--from`. @throws UsageError with the place of each fault */
export async function readDesiredState(
  session: Session,
  options: FileOptions,
): Promise<DesiredState> {
  const { terminal } = session;
  const { file, from, prune, requireSecrets } = options;
  checkFromOptions(options, file);
  const manifest =
    from === undefined
      ? readManifest(await readSources(file ?? [], terminal))
      : await manifestOfEnvironment(session, from, options);
  const environment = environmentOf(session, manifest);
  const { document, unset, taken } = replaceReferences(manifest, terminal.env);
  if (requireSecrets && unset.length > 0) {
    const faults = unset.map(
      ({ place, variable }) => `${place}: the variable ${variable} is not set`,
    );
    throw new UsageError(faultText(faults));
  }
  // Whoever names a service of the other environment names the variable, and a file that people review does not say so.
  if (from !== undefined && taken.length > 0) {
    session.note(`Secrets are taken from variables of this shell: ${taken.join(', ')}.`);
  }
  return { manifest, environment, document, unset, taken, prune: prune ?? false };
}

function environmentOf(session: Session, { environment }: Manifest): string {
  if (environment === undefined) return session.requireEnvironment();
  const { name, place } = environment;
  if (typeof name !== 'string') throw new UsageError(`${place}: environment must be a name`);
  const { environment: selected, environmentOfContext: context } = session;
  if (selected === undefined || selected === name) return name;
  if (context === undefined) {
    throw new UsageError(`${place}: the environment is ${name}, but --environment is ${selected}`);
  }
  // A file means its environment wherever it is applied; the default of a context is for commands that name none.
  session.note(
    `The files name the environment ${name}; that of the context ${context} is ${selected}.`,
  );
  return name;
}
