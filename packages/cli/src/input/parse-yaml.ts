import { LineCounter, parseDocument } from 'yaml';
import { UsageError } from '../program/exit-codes.ts';
import { yamlFault } from './yaml-fault.ts';

/** Reads YAML or JSON, which is YAML too. An error names the file, the line and the column. */
export function parseYaml(text: string, file: string): unknown {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  const [error] = [...document.errors, ...document.warnings];
  if (error) throw new UsageError(yamlFault(file, lineCounter, error));
  try {
    return document.toJS() as unknown;
  } catch (thrown) {
    // Aliases that would expand to a huge document.
    throw new UsageError(`${file}: ${(thrown as Error).message}`);
  }
}
