import MarkdownIt, { type Token } from 'markdown-it';
import { createAnchors, escapeHtml } from '../page/html.ts';
import { renderDiagram } from './diagram.ts';
import { highlight } from './highlight.ts';
import { resolveLink, type LinkOptions } from './links.ts';

/** A heading below that of the page. */
export interface Heading {
  readonly level: number;
  /** Without Markdown. */
  readonly text: string;
  readonly anchor: string;
}

/** A part of a page, from one heading to the next, as the search finds it. */
export interface PagePart {
  /** Undefined: before the first heading below that of the page. */
  readonly heading: Heading | undefined;
  readonly text: string;
}

export interface RenderedMarkdown {
  readonly html: string;
  readonly headings: readonly Heading[];
  readonly parts: readonly PagePart[];
}

const COMMENT = /^<!--.*-->$/gm;

/**
 * Renders a document. HTML in it is shown as text, not used.
 *
 * @param source the file of the document, which its links are relative to
 * @throws Error that names a link without a target
 */
export function renderMarkdown(
  text: string,
  source: string,
  options: LinkOptions,
): RenderedMarkdown {
  const markdown = new MarkdownIt({ html: false });
  const tokens = markdown.parse(text.replaceAll(COMMENT, ''), {});
  const anchorOf = createAnchors();
  const headings: Heading[] = [];
  const parts: { heading: Heading | undefined; text: string }[] = [];
  let diagrams = 0;

  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const heading = headingOf(token, tokens[index + 1], anchorOf);
      token.attrSet('id', heading.anchor);
      if (heading.level === 1) continue;
      headings.push(heading);
      parts.push({ heading, text: '' });
    } else if (token.type === 'inline') {
      for (const child of token.children ?? []) useTarget(child, source, options);
      if (tokens[index - 1]?.type !== 'heading_open') addText(parts, plainText(token));
    } else if (token.type === 'fence') {
      if (token.info !== 'mermaid') addText(parts, token.content);
    } else if (token.type === 'th_open' || token.type === 'td_open') {
      alignByClass(token);
    }
  }

  markdown.renderer.rules.fence = (all, index) => {
    const token = all[index];
    if (token === undefined) return '';
    if (token.info === 'mermaid') return renderDiagram(token.content, (diagrams += 1));
    return codeBlock(token.content, token.info);
  };
  markdown.renderer.rules.table_open = () => '<div class="table"><table>\n';
  markdown.renderer.rules.table_close = () => '</table></div>\n';
  markdown.renderer.rules.heading_close = (all, index) => {
    const opened = all.slice(0, index).findLast((one) => one.type === 'heading_open');
    const anchor = opened?.attrGet('id') ?? '';
    const link = `<a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a>`;
    return opened?.tag === 'h1' ? '</h1>\n' : `${link}</${opened?.tag ?? 'h2'}>\n`;
  };
  const html = markdown.renderer.render(tokens, markdown.options, {});
  // A head without text is no head.
  return { html: html.replaceAll('<th></th>', '<td></td>'), headings, parts };
}

/** A block of code, coloured, with room for the button that copies it. */
export function codeBlock(code: string, language: string): string {
  return `<div class="code" data-language="${escapeHtml(language)}"><pre><code>${highlight(code, language)}</code></pre></div>\n`;
}

function headingOf(token: Token, content: Token | undefined, anchorOf: (text: string) => string) {
  // Anchors are made of the words as they are written, code included.
  const anchor = anchorOf(content?.content ?? '');
  const text = content === undefined ? '' : plainText(content);
  return { level: Number(token.tag.slice(1)), text, anchor };
}

function plainText(inline: Token): string {
  return (inline.children ?? [])
    .map(({ type, content }) => (type === 'softbreak' ? ' ' : content))
    .join('');
}

function addText(parts: { heading: Heading | undefined; text: string }[], text: string): void {
  if (parts.length === 0) parts.push({ heading: undefined, text: '' });
  const last = parts.at(-1);
  if (last !== undefined) last.text += `${text}\n`;
}

/** Puts the URL of the site in the place of a path of the repository. */
function useTarget(token: Token, source: string, options: LinkOptions): void {
  if (token.type === 'image') {
    const target = resolveLink(String(token.attrGet('src')), source, options);
    if (target.kind !== 'url')
      throw new Error(`${source} shows ${target.file}, which is no picture`);
    token.attrSet('src', target.url);
    token.attrSet('loading', 'lazy');
  } else if (token.type === 'link_open') {
    const target = resolveLink(String(token.attrGet('href')), source, options);
    if (target.kind === 'url') {
      token.attrSet('href', target.url);
      if (/^https?:/.test(target.url)) token.attrSet('rel', 'noreferrer');
      return;
    }
    // A link without an address is shown as text.
    token.attrs = [
      ['class', 'repository-file'],
      ['title', `${target.file}, in the repository`],
    ];
  }
}

/** The library aligns by a style in the element, which the policy of the page forbids. */
function alignByClass(token: Token): void {
  const style = token.attrGet('style');
  if (style === null) return;
  const [, side = 'left'] = /text-align:(\w+)/.exec(String(style)) ?? [];
  token.attrs = [['class', `align-${side}`]];
}
