import { titleOf } from '@gateway/shared/errors/error-content';
import { ERROR_CODES, ERROR_TABLE, type ErrorCode } from '@gateway/shared/errors/error-table';
import { grpcStatusText } from '@gateway/shared/errors/grpc-statuses';
import { ERRORS } from './documents.ts';
import { escapeHtml } from './page/html.ts';
import type { PageContent } from './page/page.ts';
import type { SearchEntry } from './search/search-entries.ts';

const TITLE = 'Errors';

/** The page that the `type` of problem details refers to: each code at the anchor of its name. */
export function renderErrors(): {
  readonly content: Omit<PageContent, 'navigation'>;
  readonly entries: readonly SearchEntry[];
} {
  const content = {
    title: TITLE,
    url: ERRORS,
    part: 'reference',
    main: `<h1>${TITLE}</h1>
<p>Each error of the gateway has a code, in the body and in the header <code>X-Gateway-Error</code>. It does not change
from one release to the next.</p>
${ERROR_CODES.map(section).join('\n')}`,
    contents: [],
  } as const;
  const entries = ERROR_CODES.map((code) => ({
    url: `${ERRORS}#${code}`,
    page: TITLE,
    heading: `${code} (${ERROR_TABLE[code].status})`,
    text: `${ERROR_TABLE[code].when} ${ERROR_TABLE[code].action}`.replaceAll('`', ''),
  }));
  return { content, entries };
}

function section(code: ErrorCode): string {
  const { status, when, action } = ERROR_TABLE[code];
  return `<section id="${code}" class="error">
<h2>${titleOf(code)}</h2>
<p><code>${code}</code>, status ${status}, gRPC status ${grpcStatusText(code)}</p>
<p>${withCode(when)}</p>
<p>${withCode(action)}</p>
</section>`;
}

function withCode(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]*)`/g, '<code>$1</code>');
}
