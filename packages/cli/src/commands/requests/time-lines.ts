import { timeParts } from '@gateway/client/time-parts';
import type { components } from '@gateway/client';
import { msText, shareText } from '@gateway/client/measures';
import { alignedLines } from '../../output/table.ts';

/** A line for each part of the time of a request, with its share. */
export function timeLines(record: components['schemas']['RequestRecord']): string[] {
  const parts = timeParts(record);
  const totalMs = parts.reduce((sum, { ms }) => sum + ms, 0);
  const share = (ms: number) => shareText(ms / totalMs);
  return alignedLines(parts.map(({ name, ms }) => [`  ${name}`, msText(ms), share(ms)]));
}
