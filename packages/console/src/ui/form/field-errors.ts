import type { ErrorDetail } from '@gateway/client';
import { isSame, valueAt, type Draft } from './draft.ts';

/** The rules that the API says are broken, by the path of the field. */
export interface FieldErrors {
  /** The message at exactly this field. */
  at(path: string): string | undefined;
  /** The messages at this field and below it, for a field that holds a list or an object. */
  within(path: string): string | undefined;
}

/** Finds the messages in the `details` of an ApiError. */
export function fieldErrors(details: readonly ErrorDetail[]): FieldErrors {
  return {
    at(path) {
      return joined(details.filter((one) => one.path === path).map(({ message }) => message));
    },
    within(path) {
      const messages = details.flatMap(({ path: where, message }) => {
        if (where === path) return [message];
        if (!where.startsWith(`${path}.`)) return [];
        return [`${partName(where.slice(path.length + 1))} ${message}`];
      });
      return joined(messages);
    },
  };
}

/** The messages about what is still as it was sent. What was typed anew is judged when it is sent. */
export function standingDetails(
  details: readonly ErrorDetail[],
  sent: Draft,
  draft: Draft,
): readonly ErrorDetail[] {
  return details.filter(({ path }) => isSame(valueAt(sent, path), valueAt(draft, path)));
}

/** People count from 1. What was typed as a name may have spaces. */
function partName(path: string): string {
  if (/^\d+$/.test(path)) return `item ${Number(path) + 1}`;
  return /^[\w.-]+$/.test(path) ? path : `“${path.trim()}”`;
}

function joined(messages: readonly string[]): string | undefined {
  return messages.length === 0 ? undefined : [...new Set(messages)].join('; ');
}
