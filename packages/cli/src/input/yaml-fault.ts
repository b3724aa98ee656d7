import type { LineCounter, YAMLError } from 'yaml';

/** A place for people and editors, such as `production.yaml:3:10`. */
export function placeText(file: string, lines: LineCounter, offset: number): string {
  const { line, col } = lines.linePos(offset);
  return `${file}:${line}:${col}`;
}

/** A fault of YAML with its place. What the parser quotes of the file is left out: it may be a secret. */
export function yamlFault(file: string, lines: LineCounter, error: YAMLError): string {
  const { pos, code, message } = error;
  const rule =
    code === 'RESOURCE_EXHAUSTION'
      ? 'it is nested too deeply'
      : message.replace(/(?<=\S): .*$/s, '');
  return `${placeText(file, lines, pos[0])}: ${rule}`;
}
