import { ERROR_TABLE, type ErrorCode } from '@gateway/shared/errors/error-table';
import { ERRORS } from '../documents.ts';
import { codeBlock } from '../markdown/render-markdown.ts';
import { escapeHtml } from '../page/html.ts';
import { curlExample } from './curl.ts';
import {
  refName,
  type ApiOperation,
  type ApiParameter,
  type ApiResponse,
  type OpenApi,
} from './openapi.ts';
import { prose } from './prose.ts';
import { fieldItem, fieldList, typeOf } from './schema-fields.ts';
import { tryForm } from './try-form.ts';

/** An operation with the place where it is called. */
export interface PlacedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: ApiOperation;
}

const GROUPS = [
  ['path', 'Path'],
  ['query', 'Query'],
  ['header', 'Header fields'],
] as const;
const FIRST_ERROR_STATUS = 400;

/** All about an operation: how to call it, what it takes, what it answers, and the form that calls it. */
export function operationSection(placed: PlacedOperation, api: OpenApi): string {
  const { method, path, operation } = placed;
  const { operationId, summary, description, parameters = [], requestBody, deprecated } = operation;
  const body = requestBody?.content['application/json']?.schema;
  return `<section class="operation" id="${operationId}">
<div class="about">
<h2>${escapeHtml(summary)}${deprecated === true ? ' <span class="badge">deprecated</span>' : ''}<a class="anchor" href="#${operationId}" aria-label="Link to this operation">#</a></h2>
<p class="endpoint">${methodBadge(method)}<code>${escapeHtml(path)}</code></p>
${prose(description)}
</div>
<div class="call">
${codeBlock(curlExample(method, path, operation), 'sh')}
${tryForm(method, path, operation)}
</div>
<div class="details">
${GROUPS.map(([place, label]) => parameterGroup(label, ofPlace(parameters, place))).join('')}
${body === undefined ? '' : bodyFields(refName(body) ?? '', api)}
<h3>Response</h3>
${responses(operation, api)}
</div>
</section>`;
}

export function methodBadge(method: string): string {
  return `<span class="method method-${method}">${method.toUpperCase()}</span>`;
}

function ofPlace(parameters: readonly ApiParameter[], place: string): readonly ApiParameter[] {
  return parameters.filter((one) => one.in === place);
}

function parameterGroup(label: string, parameters: readonly ApiParameter[]): string {
  if (parameters.length === 0) return '';
  const items = parameters.map(({ name, schema, description, required = false }) =>
    fieldItem(name, { ...schema, description }, required),
  );
  return `<h3>${label}</h3><ul class="fields">${items.join('')}</ul>`;
}

function bodyFields(name: string, api: OpenApi): string {
  const schema = api.components.schemas[name] ?? {};
  const count = Object.keys(schema.properties ?? {}).length;
  const list = fieldList(schema);
  if (count <= FEW_FIELDS) return `<h3>Body</h3>${list}`;
  return `<h3>Body</h3><details class="body-fields"><summary>${count} fields</summary>${list}</details>`;
}

const FEW_FIELDS = 8;

function responses({ responses: all }: ApiOperation, api: OpenApi): string {
  const entries = Object.entries(all);
  const good = entries.filter(([status]) => Number(status) < FIRST_ERROR_STATUS);
  const errors = entries.filter(([status]) => Number(status) >= FIRST_ERROR_STATUS);
  const answers = good.map(([status, response]) => success(status, response, api)).join('');
  const list = errors.map(([status, response]) => {
    const codes = codesOf(response).map((code) => `<a href="${ERRORS}#${code}">${code}</a>`);
    return `<li><code>${status}</code> ${codes.join(', ')}</li>`;
  });
  return `${answers}<details class="errors"><summary>Errors</summary><ul>${list.join('')}</ul></details>`;
}

function success(status: string, response: ApiResponse, api: OpenApi): string {
  const content = response.content?.['application/json'];
  const head = `<p><code>${status}</code> ${escapeHtml(response.description ?? '')}</p>`;
  if (content === undefined) return head;
  const schema = api.components.schemas[refName(content.schema) ?? ''] ?? content.schema;
  const data = schema.properties?.['data'];
  const type = data === undefined ? '' : `<p><code>data</code>: ${typeOf(data)}</p>`;
  const example =
    content.example === undefined
      ? ''
      : `<details class="example"><summary>Example</summary>${codeBlock(JSON.stringify(content.example, undefined, 2), 'json')}</details>`;
  return head + type + example;
}

/** The codes of an error response, whose component is named for them. */
function codesOf(response: ApiResponse): readonly ErrorCode[] {
  const name = refName(response)?.replace(/^deprecated_/, '') ?? '';
  return name.split('_or_').filter((code): code is ErrorCode => Object.hasOwn(ERROR_TABLE, code));
}
