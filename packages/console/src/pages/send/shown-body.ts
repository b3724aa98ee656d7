import { formattedJson } from './send-draft.ts';

/** A body as it can be shown. */
export interface ShownBody {
  /** undefined: it is no text. */
  readonly raw: string | undefined;
  /** With indents, if it is JSON. */
  readonly pretty: string | undefined;
}

/** The text of a body, which is UTF-8 or not shown. A text that was cut may end within a character. */
export function shownBody(bytes: Uint8Array<ArrayBuffer>, isWhole: boolean): ShownBody {
  const raw = textOf(bytes, isWhole);
  return { raw, pretty: raw === undefined || !isWhole ? undefined : formattedJson(raw) };
}

function textOf(bytes: Uint8Array<ArrayBuffer>, isWhole: boolean): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isWhole });
    // Of the control characters only white space is in texts.
    return /[^\P{Cc}\s]/u.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
