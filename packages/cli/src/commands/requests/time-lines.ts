import { timeParts } from '@gateway/client/time-parts';
import type { components } from '@gateway/client';
import { msText } from '../../output/durations.ts';
import { alignedLines } from '../../output/table.ts';

/** A line for each part of the time of a request, with its share. */
export function timeLines(record: components['schemas']['RequestRecord']): string[] {
  const parts = timeParts(record);
  const totalMs = parts.reduce((sum, { ms }) => sum + ms, 0);
  const share = (ms: number) => `${Math.round((ms / totalMs) * 100)} %`;
  return alignedLines(parts.map(({ name, ms }) => [`  ${name}`, msText(ms), share(ms)]));
}
