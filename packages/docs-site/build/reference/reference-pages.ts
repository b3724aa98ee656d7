import { REFERENCE } from '../documents.ts';
import { createAnchors, escapeHtml } from '../page/html.ts';
import type { NavigationSection } from '../navigation.ts';
import type { PageContent } from '../page/page.ts';
import type { SearchEntry } from '../search/search-entries.ts';
import { objectsOf } from './objects.ts';
import { readOpenApi, type OpenApi } from './openapi.ts';
import { methodBadge, operationSection, type PlacedOperation } from './operation-section.ts';
import { prose } from './prose.ts';
import { fieldList, objectAnchor } from './schema-fields.ts';

/** A page of the reference, and what the search finds in it. */
export interface ReferencePage {
  readonly content: PageContent;
  readonly entries: readonly SearchEntry[];
}

interface Tag {
  readonly name: string;
  readonly url: string;
  readonly description: string;
  readonly operations: readonly PlacedOperation[];
}

/** The overview at /docs with all operations, and a page for each tag. */
export function referencePages(root: string): readonly ReferencePage[] {
  const api = readOpenApi(root);
  const anchorOf = createAnchors();
  const tags = api.tags.map(({ name, description }) => ({
    name,
    description,
    url: `${REFERENCE}/api/${anchorOf(name)}`,
    operations: operationsOf(api, name),
  }));
  const navigation = navigationOf(tags);
  return [overview(api, tags, navigation), ...tags.map((tag) => tagPage(api, tag, navigation))];
}

/** Those that are deprecated last. */
function operationsOf(api: OpenApi, tag: string): readonly PlacedOperation[] {
  return Object.entries(api.paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
    )
    .filter(({ operation }) => operation.tags.includes(tag))
    .toSorted((a, b) => Number(isDeprecated(a)) - Number(isDeprecated(b)));
}

function isDeprecated({ operation }: PlacedOperation): boolean {
  return operation.deprecated === true;
}

function navigationOf(tags: readonly Tag[]): readonly NavigationSection[] {
  const entries = tags.map(({ name, url, operations }) => ({
    label: name,
    url,
    children: operations.map(({ operation }) => ({
      label: operation.summary,
      url: `${url}#${operation.operationId}`,
      children: [],
    })),
  }));
  return [
    {
      label: 'API reference',
      entries: [
        { label: 'Overview', url: REFERENCE, children: [] },
        ...entries,
        { label: 'Errors', url: `${REFERENCE}/errors`, children: [] },
      ],
    },
  ];
}

function overview(
  api: OpenApi,
  tags: readonly Tag[],
  navigation: readonly NavigationSection[],
): ReferencePage {
  const lists = tags.map(({ name, url, description, operations }) => {
    const items = operations
      .filter((one) => !isDeprecated(one))
      .map(
        ({ method, path, operation }) =>
          `<li><a href="${url}#${operation.operationId}">${methodBadge(method)}<code>${escapeHtml(path)}</code><span>${escapeHtml(operation.summary)}</span></a></li>`,
      );
    return `<h2 id="${url.split('/').at(-1)}"><a href="${url}">${escapeHtml(name)}</a></h2>${prose(description)}<ul class="operations">${items.join('')}</ul>`;
  });
  const main = `<h1>${escapeHtml(api.info.title)}</h1>
${prose(api.info.description)}
<p>Each operation can be tried from its page, with your session of the <a href="/console">console</a>: no token is in the page.
The same as a file: <a href="/v1/openapi.json">/v1/openapi.json</a>.</p>
${lists.join('\n')}`;
  return {
    content: {
      title: 'API reference',
      url: REFERENCE,
      part: 'reference',
      navigation,
      main,
      contents: [],
    },
    entries: [],
  };
}

function tagPage(
  api: OpenApi,
  { name, url, description, operations }: Tag,
  navigation: readonly NavigationSection[],
): ReferencePage {
  const objects = objectsOf(operations, api);
  const objectSections = objects.map(
    (object) =>
      `<section class="object" id="${objectAnchor(object)}"><h2>${escapeHtml(object)}</h2>${fieldList(api.components.schemas[object] ?? {})}</section>`,
  );
  const main = `<h1>${escapeHtml(name)}</h1>
${prose(description)}
${operations.map((one) => operationSection(one, api)).join('\n')}
${objectSections.join('\n')}`;
  return {
    content: {
      title: name,
      url,
      part: 'reference',
      navigation,
      main,
      contents: [],
    },
    entries: operations.map(({ method, path, operation }) => ({
      url: `${url}#${operation.operationId}`,
      page: `API: ${name}`,
      heading: `${operation.summary}: ${method.toUpperCase()} ${path}`,
      text: operation.description.replaceAll('`', '').replaceAll(/\s+/g, ' '),
    })),
  };
}
