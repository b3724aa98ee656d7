import { titleOf } from '@gateway/shared/errors/error-content';
import { ERROR_CODES, ERROR_TABLE, type ErrorCode } from '@gateway/shared/errors/error-table';
import { grpcStatusText } from '@gateway/shared/errors/grpc-statuses';

/** The page that the `type` of problem details refers to: each code at the anchor of its name. It runs no script. */
export const ERRORS_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Errors of the gateway</title>
    <link rel="icon" href="data:," />
    <style>
      body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
      section:target { outline: 2px solid; outline-offset: 0.5rem; }
    </style>
  </head>
  <body>
    <h1>Errors of the gateway</h1>
${ERROR_CODES.map(section).join('\n')}
  </body>
</html>
`;

function section(code: ErrorCode): string {
  const { status, when, action } = ERROR_TABLE[code];
  return `    <section id="${code}">
      <h2>${titleOf(code)}</h2>
      <p><code>${code}</code>, status ${status}, gRPC status ${grpcStatusText(code)}</p>
      <p>${html(when)}</p>
      <p>${html(action)}</p>
    </section>`;
}

function html(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return escaped.replaceAll(/`([^`]*)`/g, '<code>$1</code>');
}
