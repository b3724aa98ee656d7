import type { Source } from '../manifest/read-sources.ts';
import { readApisix } from './apisix/read-apisix.ts';
import { Conversion, type Remark } from './draft.ts';
import { finish } from './finish.ts';
import { readKong } from './kong/read-kong.ts';
import { readNginx } from './nginx/read-nginx.ts';
import { readYaml, WrongType } from './source-node.ts';
import { writeFiles } from './write-files.ts';
import { FailedError, UsageError } from '../program/exit-codes.ts';

export const FORMATS = ['kong', 'nginx', 'apisix'] as const;
export type Format = (typeof FORMATS)[number];

const TITLES = { kong: 'Kong', nginx: 'nginx', apisix: 'APISIX' } as const;

/** What a conversion needs besides the file. */
export interface Options {
  /** The hosts of routes that name none. */
  readonly hosts: readonly string[];
  /** The environment that the result names. */
  readonly environment?: string | undefined;
}

export interface Converted {
  readonly yaml: string;
  readonly remarks: readonly Remark[];
}

/** Makes a file for `gwctl apply` of a configuration. @throws FailedError with line and rule if it cannot be read */
export function convertSource(format: Format, source: Source, options: Options): Converted {
  const conversion = new Conversion();
  try {
    if (format === 'nginx') readNginx(conversion, source, options.hosts);
    else {
      const [root, second] = readYaml(source);
      if (root === undefined) throw new FailedError(`${source.name}: there is nothing in it`);
      if (second !== undefined)
        conversion.missing(second.place, 'all YAML documents but the first');
      const read = format === 'kong' ? readKong : readApisix;
      read(conversion, root, options.hosts);
    }
  } catch (error) {
    if (error instanceof WrongType)
      throw new FailedError(`${error.place}: ${error.message}`, { cause: error });
    if (error instanceof UsageError) throw new FailedError(error.message, { cause: error });
    throw error;
  }
  finish(conversion);
  const head = [
    `Converted from ${TITLES[format]}. Look at NOT CONVERTED and DIFFERENT before you apply it;`,
    'docs/use/moving-in.md explains what stands for what.',
  ];
  return writeFiles(conversion, head, options.environment);
}
