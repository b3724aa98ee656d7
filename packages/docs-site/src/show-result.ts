import { addCopyButtons } from './copy-buttons.ts';

const SHOWN_FIELDS = [
  'x-request-id',
  'etag',
  'location',
  'x-gateway-wait',
  'x-ratelimit-remaining',
];
const FIRST_ERROR_STATUS = 400;

/** Shows the answer of a call: status, time, the header fields that matter, and the body. */
export function showResult(
  box: HTMLElement,
  response: Response,
  text: string,
  tookMs: number,
): void {
  const head = document.createElement('p');
  const status = document.createElement('strong');
  status.textContent = String(response.status);
  status.className = response.status < FIRST_ERROR_STATUS ? 'good' : 'bad';
  head.append(status, ` in ${Math.round(tookMs)} ms`);
  const fields = SHOWN_FIELDS.flatMap((name) => {
    const value = response.headers.get(name);
    return value === null ? [] : [`${name}: ${value}`];
  });
  box.replaceChildren(head, codeOf(fields.join('\n')));
  if (text !== '') box.append(codeOf(indented(text)));
  addCopyButtons(box);
}

export function showText(box: HTMLElement, text: string): void {
  const line = document.createElement('p');
  line.className = 'bad';
  line.textContent = text;
  box.replaceChildren(line);
}

function codeOf(text: string): HTMLElement {
  const block = document.createElement('div');
  block.className = 'code';
  const pre = document.createElement('pre');
  const code = document.createElement('code');
  pre.tabIndex = 0;
  code.textContent = text;
  pre.append(code);
  block.append(pre);
  return block;
}

/** JSON with line breaks; other text as it is. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
