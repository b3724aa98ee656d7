import { useEffect, useState } from 'react';

/** Below this the head of the list is out of sight, and the reader is within it. */
const SCROLLED_PX = 240;

/** Whether the reader is in the list: by the pointer, by the focus or by having scrolled. */
export function useReading() {
  const [hovered, setHovered] = useState(false);
  const [focused, setFocused] = useState(false);
  const [scrolled, setScrolled] = useState(false);
  useEffect(() => {
    const listen = (): void => setScrolled(window.scrollY > SCROLLED_PX);
    window.addEventListener('scroll', listen, { passive: true });
    return () => window.removeEventListener('scroll', listen);
  }, []);
  return {
    isReading: hovered || focused || scrolled,
    listeners: {
      // A finger does not rest on the list.
      onPointerEnter: ({ pointerType }: { readonly pointerType: string }) =>
        setHovered(pointerType !== 'touch'),
      onPointerLeave: () => setHovered(false),
      onFocus: () => setFocused(true),
      onBlur: ({ currentTarget, relatedTarget }: FocusMove) =>
        setFocused(relatedTarget instanceof Node && currentTarget.contains(relatedTarget)),
    },
  };
}

interface FocusMove {
  readonly currentTarget: Node;
  readonly relatedTarget: EventTarget | null;
}
