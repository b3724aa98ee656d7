/** Shows the button of the search. What searches is loaded when it is first opened. */
export function enableSearch(): void {
  const button = document.querySelector<HTMLButtonElement>('[data-search]');
  if (button === null) return;
  button.hidden = false;
  const open = () => void import('./search.ts').then(({ openSearch }) => openSearch());
  button.addEventListener('click', open);
  document.addEventListener('keydown', (event) => {
    const isTyping = (event.target as Element | null)?.closest('input, textarea, select') !== null;
    const isCommand = event.key === 'k' && (event.metaKey || event.ctrlKey);
    const isSlash = event.key === '/' && !isTyping && !event.metaKey && !event.ctrlKey;
    if (!isCommand && !isSlash) return;
    event.preventDefault();
    open();
  });
}
