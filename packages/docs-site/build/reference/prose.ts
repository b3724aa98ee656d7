import MarkdownIt from 'markdown-it';

const markdown = new MarkdownIt({ html: false });

/** A description, which is Markdown. */
export function prose(text: string): string {
  return markdown.render(text);
}
