import { escapeHtml } from '../page/html.ts';
import type { ApiOperation, ApiParameter } from './openapi.ts';

/** Methods that change nothing. */
const SAFE = new Set(['get', 'head']);

/**
 * The form that calls an operation under the session of the console. A script shows it and sends the call: without one it could
 * not send what the console's sessions need, so it is hidden.
 */
export function tryForm(method: string, path: string, operation: ApiOperation): string {
  const { operationId, parameters = [], requestBody } = operation;
  const inputs = parameters.map((parameter) => input(operationId, parameter));
  const example = requestBody?.content['application/json']?.example;
  const body =
    requestBody === undefined
      ? ''
      : `<label class="body"><span>Body</span><textarea name="body" rows="8" spellcheck="false">${escapeHtml(JSON.stringify(example ?? {}, undefined, 2))}</textarea></label>`;
  const unsafe = SAFE.has(method) ? '' : ' data-unsafe';
  return `<details class="try" data-try hidden><summary>Try it</summary>
<form data-method="${method.toUpperCase()}" data-path="${escapeHtml(path)}"${unsafe}>
<p class="session" data-session>The call is sent with your session of the console.</p>
${inputs.join('\n')}
${body}
<div class="actions"><button type="submit" class="primary">Send</button></div>
<div class="result" data-result role="status"></div>
</form></details>`;
}

function input(operationId: string, parameter: ApiParameter): string {
  const { name, required = false, schema, example } = parameter;
  const id = `${operationId}-${parameter.in}-${name}`;
  const field = `data-in="${parameter.in}" name="${escapeHtml(name)}" id="${escapeHtml(id)}"${required ? ' required' : ''}`;
  const choices = schema.enum;
  const control =
    choices === undefined
      ? `<input ${field} autocomplete="off" spellcheck="false" placeholder="${escapeHtml(example === undefined ? '' : String(example))}" />`
      : `<select ${field}><option value=""></option>${choices.map((choice) => `<option>${escapeHtml(String(choice))}</option>`).join('')}</select>`;
  return `<div class="input"><label for="${escapeHtml(id)}"><code>${escapeHtml(name)}</code>${required ? '' : ' <span class="flag">optional</span>'}</label>${control}</div>`;
}
