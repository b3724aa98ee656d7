/** A call that was sent before the scripts of the pages were loaded. */
export interface FirstCall {
  readonly url: string;
  readonly response: Promise<Response>;
  /** Ends it, also while its body is read. */
  readonly cancel: (reason: unknown) => void;
}

let kept: FirstCall | undefined;

/** Keeps the call until the pages make the same. */
export function keepFirstCall(call: FirstCall | undefined): void {
  kept = call;
  // It fails where it is taken.
  call?.response.catch(() => undefined);
}

/**
 * The response to this request if it is the one that was sent, and only once: the next answer may be another. The deadline
 * of the request holds for it too.
 */
export function takeFirstCall({ url, method, signal }: Request): Promise<Response> | undefined {
  if (kept?.url !== url || method !== 'GET') return undefined;
  const { response, cancel } = kept;
  kept = undefined;
  signal.addEventListener('abort', () => cancel(signal.reason), { once: true });
  return response;
}
