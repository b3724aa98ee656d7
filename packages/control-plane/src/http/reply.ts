/** What an endpoint answers; one place puts the envelope around it. */
export type Reply = Answered & {
  /**
   * Of a write: the environments whose configuration it concerns (`*`: all), so that a call which asks
   * for it is answered when they are served. A write that changed nothing concerns them as well.
   */
  readonly concerns?: readonly string[];
};

type Answered =
  | { readonly kind: 'one'; readonly data: object; readonly etag?: string }
  | {
      readonly kind: 'created';
      readonly data: object;
      readonly location: string;
      readonly etag?: string;
    }
  | { readonly kind: 'page'; readonly data: readonly object[]; readonly nextCursor: string | null }
  | { readonly kind: 'none' }
  /** A body without an envelope, such as the OpenAPI document. */
  | { readonly kind: 'document'; readonly text: string };

/** 200 with one resource. */
export function one(data: object, etag?: string): Reply {
  return etag === undefined ? { kind: 'one', data } : { kind: 'one', data, etag };
}

/** 201 with the new resource and where it is found from now on. */
export function created(data: object, location: string, etag?: string): Reply {
  const reply = { kind: 'created', data, location } as const;
  return etag === undefined ? reply : { ...reply, etag };
}

/** 200 with a page of a list; `nextCursor` is null on the last page. */
export function page(data: readonly object[], nextCursor: string | null): Reply {
  return { kind: 'page', data, nextCursor };
}

/** 204. */
export function noContent(): Reply {
  return { kind: 'none' };
}

/** The answer of a write that concerns the configuration of these environments; `*` stands for all. */
export function concerning(environments: readonly string[], reply: Reply): Reply {
  return { ...reply, concerns: environments };
}
