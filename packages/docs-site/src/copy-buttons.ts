const SHOWN_MS = 1500;

/** Gives each block of code a button that copies it. */
export function addCopyButtons(within: ParentNode = document): void {
  for (const block of within.querySelectorAll<HTMLElement>('.code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', () => {
      void navigator.clipboard.writeText(block.querySelector('code')?.textContent ?? '').then(
        () => say(button, 'Copied'),
        () => say(button, 'Not allowed'),
      );
    });
    block.append(button);
  }
}

function say(button: HTMLButtonElement, text: string): void {
  button.textContent = text;
  setTimeout(() => {
    button.textContent = 'Copy';
  }, SHOWN_MS);
}
