/** An expression of all that a script of a page can read: storage, cookies, the document, fields and the history. */
export const VISIBLE_TO_SCRIPTS = `[
  JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage }), document.cookie,
  document.documentElement.outerHTML, JSON.stringify(history.state),
  ...Array.from(document.querySelectorAll('input'), (one) => one.value),
].join('\\n')`;
