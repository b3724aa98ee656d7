/** Marks the section that is read in the list beside the page. */
export function markSection(): void {
  const links = new Map(
    [...document.querySelectorAll<HTMLAnchorElement>('.contents a')].map((link) => [
      decodeURIComponent(link.hash.slice(1)),
      link,
    ]),
  );
  const targets = [...links.keys()].flatMap((id) => document.getElementById(id) ?? []);
  const below = new Set<Element>(targets);
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, boundingClientRect, rootBounds } of entries) {
        if (boundingClientRect.top < (rootBounds?.bottom ?? 0)) below.delete(target);
        else below.add(target);
      }
      const current = targets.findLast((one) => !below.has(one));
      for (const [id, link] of links) link.toggleAttribute('data-current', id === current?.id);
    },
    // What is above a line near the top of the window has been read.
    { rootMargin: '100000px 0px -75% 0px' },
  );
  for (const target of targets) observer.observe(target);
}
