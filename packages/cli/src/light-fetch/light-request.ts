import { LightHeaders } from './light-headers.ts';

interface RequestInit {
  readonly method?: string;
  readonly headers?: LightHeaders | Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** A request with a body that is a text, so that it can be sent again. */
export class LightRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: LightHeaders;
  readonly text: string | undefined;
  readonly signal: AbortSignal | undefined;

  constructor(url: string, { method = 'GET', headers = {}, body, signal }: RequestInit = {}) {
    this.url = new URL(url).href;
    this.method = method;
    this.headers = new LightHeaders(headers);
    this.text = body;
    this.signal = signal;
  }

  clone(): LightRequest {
    return this;
  }
}

/** A response that has arrived as a whole. */
export class LightResponse {
  readonly url: string;
  readonly status: number;
  readonly headers: LightHeaders;
  /** Nothing is left to be read. */
  readonly body = null;
  readonly #text: string;

  constructor(url: string, status: number, headers: LightHeaders, text: string) {
    this.url = url;
    this.status = status;
    this.headers = headers;
    this.#text = text;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  text(): Promise<string> {
    return Promise.resolve(this.#text);
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text()) as unknown;
  }
}
