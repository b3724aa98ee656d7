/** A request id anywhere in a text: a header, a log line, a URL or the body of an error. */
const REQUEST_ID = /req_[0-9a-hjkmnp-tv-z]{26}(?![0-9a-z])/i;

/** The first request id in the text. */
export function requestIdIn(text: string): string | undefined {
  return REQUEST_ID.exec(text)?.[0].toLowerCase();
}
