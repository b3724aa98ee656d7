import { countedText } from '@gateway/client/measures';
import { Command } from 'commander';
import { collect } from '../../input/body-options.ts';
import { faultText, readManifest, type Manifest } from '../../manifest/manifest.ts';
import { inOrder, placedFault } from '../../manifest/placed-fault.ts';
import { readSources } from '../../manifest/read-sources.ts';
import { replaceReferences } from '../../manifest/replace-references.ts';
import { foreignServices } from '../../manifest/foreign-services.ts';
import { FailedError, UsageError } from '../../program/exit-codes.ts';
import type { Cli } from '../../session.ts';
import { FILES_HELP } from './desired-state.ts';

interface Options {
  readonly file: readonly string[];
}

/** `gwctl validate`: needs no gateway and no token. */
export const validateCommand = ({ terminal }: Cli): Command =>
  new Command('validate')
    .description(
      'Checks files of services and routes without a gateway, by the definitions that apply checks them by. It names ' +
        'the line and the column of each fault. Which services, hosts and paths an environment has already, and which ' +
        'addresses the gateway allows, only gwctl diff knows.',
    )
    .requiredOption('-f, --file <file>', FILES_HELP, collect)
    .addHelpText('after', '\nExample:\n  $ gwctl validate -f gateway/')
    .action(async ({ file }: Options) => {
      const manifest = readManifest(await readSources(file, terminal));
      const { name, place } = manifest.environment ?? { name: '', place: '' };
      if (typeof name !== 'string') throw new UsageError(`${place}: environment must be a name`);
      const { document } = replaceReferences(manifest, terminal.env);
      const { documentFaults } =
        await import('@gateway/control-plane/configuration/document-faults');
      const faults = documentFaults(document).map((fault) => placedFault(manifest, fault));
      if (faults.length > 0) throw new FailedError(faultText(inOrder(faults)));
      for (const { place: at, service } of foreignServices(manifest)) {
        terminal.error(
          `${at}: service ${service} is not in the files; the environment must have it\n`,
        );
      }
      terminal.error(`${countsText(manifest)}: no fault found\n`);
    });

/** Such as `2 services and 1 route`. */
function countsText({ items }: Manifest): string {
  const { services = [], routes = [] } = items;
  return `${countedText(services.length, 'service')} and ${countedText(routes.length, 'route')}`;
}
