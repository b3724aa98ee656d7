/** The severity of each level, as the log data model of OpenTelemetry numbers them. */
export const SEVERITY_NUMBERS: Readonly<Record<string, number>> = {
  trace: 1,
  debug: 5,
  info: 9,
  warn: 13,
  error: 17,
  fatal: 21,
};

export interface Severity {
  readonly severity_text: string;
  readonly severity_number: number;
}

export function severityOf(level: string): Severity {
  return { severity_text: level.toUpperCase(), severity_number: SEVERITY_NUMBERS[level] ?? 0 };
}
