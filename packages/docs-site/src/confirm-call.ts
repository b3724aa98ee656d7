/** Asks before a call that may change something. Resolves with whether to send it. */
export function confirmCall(method: string, target: string): Promise<boolean> {
  const dialog = document.createElement('dialog');
  dialog.className = 'confirm';
  const heading = document.createElement('h2');
  heading.textContent = 'Send this call?';
  const call = document.createElement('p');
  const code = document.createElement('code');
  code.textContent = `${method} ${target}`;
  call.append(code);
  const note = document.createElement('p');
  note.textContent = 'It is a real call to this gateway, and may change it.';
  const form = document.createElement('form');
  form.method = 'dialog';
  form.className = 'actions';
  form.append(button('Cancel', 'cancel', 'plain'), button('Send', 'send', 'primary'));
  dialog.append(heading, call, note, form);
  dialog.setAttribute('aria-label', heading.textContent);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'send');
    });
  });
}

function button(label: string, value: string, className: string): HTMLButtonElement {
  const element = document.createElement('button');
  element.textContent = label;
  element.value = value;
  element.className = className;
  return element;
}
