/** A line of the log of a plane. Further fields have the prefix `gateway.`. */
export interface LogLine {
  readonly severity_text: string;
  readonly body: string;
  readonly [field: string]: unknown;
}

export function parseLogLine(line: string): LogLine {
  return JSON.parse(line) as LogLine;
}

export function isError({ severity_text: severity }: LogLine): boolean {
  return severity === 'ERROR' || severity === 'FATAL';
}
