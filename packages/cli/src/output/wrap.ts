/** The words of a text in lines of at most `width` characters; a longer word has a line of its own. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

/** The text after a label; further lines begin under the first. */
export function labelled(label: string, text: string, width: number): string[] {
  const indent = ' '.repeat(label.length);
  const lines = wrap(text, Math.max(width - label.length, 20));
  return lines.map((line, at) => (at === 0 ? label : indent) + line);
}
